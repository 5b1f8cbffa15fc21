"""Kernels that first calls compile; written by ``tools/count_first_calls.py``.

Tested in tests/_common/test_announcing.py.
"""

# Public functions; kernels that are called outside of these; the calls of ``trug_fast/warming.py``.
CALLS = (
    "arrays.cdf",
    "arrays.entropy",
    "arrays.isf",
    "arrays.log_mass",
    "arrays.logcdf",
    "arrays.logpdf",
    "arrays.logsf",
    "arrays.mean",
    "arrays.pdf",
    "arrays.ppf",
    "arrays.rvs",
    "arrays.sf",
    "arrays.skewness",
    "arrays.var",
    "log_partition",
    "train_rbm",
    "train_tggm",
    "train_trbm",
    "warm.annealing",
    "warm.doubles",
    "warm.rbm",
    "warm.singles",
    "warm.tggm",
    "warm.trbm",
)
# For each kernel: its name; seconds to compile it, without those that it calls (AMD EPYC); and
# for each choice of types their digest and the calls that need it.
KERNELS = """
arrays._density 0.06 0f27:8,19 8491:21
arrays._log_density 0.01 0f27:5,19 8491:21
arrays._part 0.11 7015:0,1,2,3,4,5,6,7,8,9,10,11,12,13,19 7a8c:10,21
arrays._placed 0.02 783b:2,9,10,19 f78f:10,21
arrays._points 0.16 17ef:21 61bd:0,4,5,6,8,11,19
arrays._probability 0.01 0f27:0,4,6,11,19 8491:21
arrays._quantiles 0.90 417d:21 52f3:21 f5b4:2,19 f911:9,19
arrays._shape 0.43 1fbe:0,1,2,3,4,5,6,7,8,9,10,11,12,13,19 eff4:10,21
arrays._skewness 0.03 ddcb:12,19 f24d:21
arrays._stretched 0.01 783b:13,19 f78f:21
arrays._sum 0.03 ddcb:7,19 f24d:21
arrays._unless_amiss 0.02 783b:3,12,19 f78f:21
arrays._variance 0.03 ddcb:13,19 f24d:21
arrays._widened 0.02 783b:1,19 f78f:21
arrays.cdf 0.64 5dfe:21 d2ff:0,19
arrays.entropy 0.59 b465:1,19 d3bc:21
arrays.isf 0.09 5dfe:21 d2ff:2,19
arrays.log_mass 0.46 b465:3,19 d3bc:21
arrays.logcdf 0.73 5dfe:21 d2ff:4,19
arrays.logpdf 0.40 5dfe:21 d2ff:5,19
arrays.logsf 0.64 5dfe:21 d2ff:6,19
arrays.mean 0.50 b465:7,19 d3bc:21
arrays.pdf 0.48 5dfe:21 d2ff:8,19
arrays.ppf 0.10 5dfe:21 d2ff:9,19
arrays.rvs 0.64 110f:10,19 db27:10,21
arrays.sf 0.54 5dfe:21 d2ff:11,19
arrays.skewness 0.44 b465:12,19 d3bc:21
arrays.var 0.43 b465:13,19 d3bc:21
loops.run 0.48 ae12:14,15,17,18,20,22,23
optimizer._update_strip 0.12 7944:15,17,20,23
optimizer.apply_rule 0.70 980b:15,16,17,20,22,23
optimizer.update_weights 0.13 994a:15,17,20,23
random.philox._uniform_row_32 0.23 a207:10,15,17,20,21,23
random.philox._uniform_row_64 0.21 20c0:10,14,18,19,22
random.philox.block 0.06 6483:10,14,15,17,18,19,20,21,22,23
random.philox.double_from_words 0.03 2035:10,14,18,19,22 bf55:10,14,18,19,22
random.philox.padded 0.02 200d:14,15,17,18,20,22,23
random.philox.philox 0.10 1449:10,14,15,17,18,19,20,21,22,23
random.philox.single_from_word 0.03 1c47:10,15,17,20,21,23 e12e:10,15,17,20,21,23
rbm.annealing._hidden_tile 0.82 4f5a:14,18
rbm.annealing._visible_tile 0.66 4f5a:14,18
rbm.annealing.add_gains 0.10 9ef9:14,18
rbm.annealing.anneal 0.36 c4f6:14,18
rbm.annealing.begin 0.38 2d43:14,18
rbm.annealing.bias_change 0.13 001f:14,18
rbm.annealing.hidden_gain 0.18 74b8:14,18
rbm.annealing.hidden_half_step 0.29 1dab:14,18 8563:14,18
rbm.annealing.inner 0.34 b1b9:14,18
rbm.annealing.linear_parts 0.33 0585:14,18
rbm.annealing.points_for 0.02 2d4e:14,18
rbm.annealing.scale_precision 0.12 756f:14,18
rbm.annealing.scaled_log_norm 0.04 ded5:14,18
rbm.annealing.visible_gain 0.44 8ace:14,18
rbm.annealing.visible_half_step 0.43 1dab:14,18 8563:14,18
rbm.annealing.visible_step 0.18 7ddc:14,18
rbm.binary.add_panel 0.05 06f7:14,15,18,20,22 6a98:15,17,20,23
rbm.binary.column_bits 0.36 6760:15,17,20,23
rbm.binary.lanes_of 0.02 655f:15,17,20,23 b2ca:15,17,20,23 f8e8:14,15,18,20,22
rbm.binary.multiply 0.68 ba87:14,15,18,20,22 c817:15,17,20,23
rbm.binary.pack 0.24 12b9:14,15,18,20,22 d64c:15,17,20,23 ed5b:15,17,20,23
rbm.binary.row_bits 0.28 6760:15,17,20,23 8a7a:14,15,18,20,22
rbm.binary.words_for 0.01 200d:14,15,17,18,20,22,23
rbm.free_energy._log_norm_tile 0.34 e75b:14,15,18,20,22
rbm.free_energy.log_norm_parts 0.38 877d:14,15,18,20,22
rbm.gibbs._draw_tile 0.08 2578:15,17,20,23 cda2:22
rbm.gibbs._moments_tile 0.54 38b3:14,18,22 5f58:17,20,23
rbm.gibbs._net_tile 0.09 17c8:14,18,22 4aef:20
rbm.gibbs._statistics_tile 0.46 195e:15,17,20,23
rbm.gibbs._step_hidden_tile 0.09 27ab:15,17,20,23 c570:22
rbm.gibbs._step_visible_tile 0.54 27ab:15,17,20,23
rbm.gibbs.add_bias 0.24 e565:15,17,20,23 e950:14,15,18,20,22
rbm.gibbs.draw_hidden 0.24 3a6a:15,17,20,23 b5b2:22
rbm.gibbs.draw_hidden_tile 0.43 0888:22 bea9:15,17,20,23
rbm.gibbs.draw_visible_row 0.36 1306:15,17,20,23 db2f:14,18
rbm.gibbs.hidden_moments 0.28 877d:14,18,22 ed7d:20
rbm.gibbs.hidden_net 0.21 1098:15,17,20,23 934f:14,15,18,20,22
rbm.gibbs.hidden_statistics 0.23 ae6d:15,17,20,23
rbm.gibbs.iterate_means 0.18 3497:17,23
rbm.gibbs.mean_visible_row 0.10 bde4:15,17,20,23
rbm.gibbs.model_phase 0.37 2661:15,17,20,23
rbm.gibbs.moments_from_net 0.24 374c:17,20,23 db98:14,18,22
rbm.gibbs.net_inputs 0.18 353d:14,18,22 b18f:20
rbm.gibbs.run_chains 0.35 37c4:23 a9fa:20,23
rbm.gibbs.step_hidden 0.22 5d50:22 f024:15,17,20,23
rbm.gibbs.step_visible 0.25 f024:15,17,20,23
rbm.gibbs.sum_chains 0.30 54f6:23
rbm.gradients._gradient_strip 0.47 3b1c:15,17,20,23
rbm.gradients._pack_panel 0.23 b2d6:15,17,20,23
rbm.gradients.binary_gradient 0.53 42c2:15,17,20,23
rbm.gradients.centre_row 0.29 380c:15,17,20,23
rbm.gradients.weight_gradient 0.50 ec9f:15,17,20,23
rbm.hidden._put_moments 0.04 5d3b:14,18,22 d111:17,20,23
rbm.hidden._put_statistics 0.11 4937:15,17,20,23
rbm.hidden.draw_row 0.31 5efd:15,17,20,23 66ac:14,18,22
rbm.hidden.log_norm_row 0.55 ded5:14,15,18,20,22
rbm.hidden.mean_row 0.34 3278:14,18 dcc2:15,17,20,23
rbm.hidden.moments_row 0.51 b629:17,20,23 f348:14,18,22
rbm.hidden.ordered_sum 0.28 9395:14,15,18,20,22
rbm.hidden.part_of 0.08 10f2:17,23 6455:15,17,20,23 f341:14,15,18,20,22
rbm.hidden.statistics_row 0.59 bedb:15,17,20,23
special.elementary.exp 0.06 2d4e:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,22,23 e6df:10,15,16,17,20,21,22,23
special.elementary.exp_and_expm1 0.07 2d4e:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,22,23 e6df:10,15,16,17,20,21,22,23
special.elementary.exp_parts 0.04 2d4e:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,22,23 e6df:10,15,16,17,20,21,22,23
special.elementary.log 0.09 2d4e:1,2,3,4,5,6,7,8,9,10,12,13,14,15,17,18,19,20,22,23 e6df:10,15,16,17,20,21,22,23
special.elementary.log1p 0.04 2d4e:2,3,4,6,9,14,15,18,19,20,22 e6df:17,20,21,23
special.elementary.log_of_any 0.07 2d4e:1,2,3,4,5,6,8,9,19 e6df:21
special.elementary.sigmoid 0.03 2d4e:14,18,22 e6df:15,17,20,23
special.elementary.softplus 0.05 2d4e:14,15,18,20,22 e6df:17,20,23
special.tails.bounded 0.03 2d4e:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,22,23 e6df:10,15,16,17,20,21,22,23
special.tails.tail_integrals 0.05 2d4e:0,1,2,3,4,5,6,7,8,9,11,12,13,14,15,17,18,19,20,22,23 e6df:15,16,17,20,21,22,23
tggm.epoch.end_coordinates 0.30 2ac0:16,22
tggm.epoch.gather_rows 0.07 4cad:16,22
tggm.epoch.move 0.15 63a7:16,22 9e8a:16,22
tggm.epoch.place_ends 0.57 2ac0:16,22
tggm.epoch.rule_of 0.13 4f13:16,22
tggm.epoch.score 0.75 4598:16,22
tggm.epoch.step 0.29 e54b:16,22
tggm.epoch.train_epoch 1.13 2357:16,22
tggm.mean_field._posterior_block 0.36 e3d1:22
tggm.mean_field.bound_constant 0.11 d62e:16,22 ec69:22
tggm.mean_field.copy 0.07 b1b9:22 bde4:16,22
tggm.mean_field.derive 0.32 d62e:16,22 ec69:22
tggm.mean_field.fill 0.05 22ef:22 57ed:16,22 d32f:16,22
tggm.mean_field.infer 0.74 4546:22 8e61:16,22
tggm.mean_field.input_net 0.20 76ba:16,22 b4f2:22
tggm.mean_field.largest 0.11 0190:16,22 5aa2:22
tggm.mean_field.mean_of_unit 0.42 244f:22 41dc:16,22
tggm.mean_field.moments_of_unit 0.59 2c8c:22 ecb9:16,22
tggm.mean_field.move_mean 0.13 6ea3:22 c462:16,22
tggm.mean_field.move_residual 0.17 02b0:22 4241:16,22
tggm.mean_field.net_given_rest 0.30 08a1:22 aefc:16,22
tggm.mean_field.new_moments 0.20 38c3:22 c4f8:16,22
tggm.mean_field.posterior 0.23 e721:22
tggm.mean_field.prior 0.35 0665:22 2b8d:16,22
tggm.mean_field.residual_of 0.22 21fe:22 bd0d:16,22
tggm.mean_field.total_of 0.07 0190:16,22
tggm.objectives.add_ends 0.13 74b7:16,22
tggm.objectives.batch_gradient 0.69 a041:16,22
tggm.objectives.bound_gradient 2.67 d0d5:16,22
tggm.objectives.network_of 0.73 2ac0:16,22
tggm.objectives.new_work 0.59 0a71:16,22
tggm.objectives.parts 0.41 0258:16,22
tggm.objectives.predictive_rows 0.50 eeb5:16,22
tiles._gather_some 0.16 6279:17,23 8b81:15,20
tiles.copy_rows 0.10 a174:15,17,20,23 e896:16,17,22,23
tiles.gather 0.12 0be1:15,20 4cad:17,23
tiles.tile 0.06 0145:14,18 5819:14,15,17,18,20,22,23 b65e:15,17,20,23 d4f8:14,18
tiles.tile_count 0.03 0c41:14,15,17,18,20,22,23 42c1:14,15,17,18,20,23 4de2:14,15,18,20,22 9b56:14,18 a966:14,18 f100:15,17,20,23
trbm.filter._backward_group 0.30 bf2d:17,23
trbm.filter._filter_group 0.39 a8c3:17,23
trbm.filter.add_rows_product 0.64 199e:17,23 36a0:17,23
trbm.filter.run_backward 0.16 7778:17,23
trbm.filter.run_filter 0.26 4167:17,23
trbm.frames._product_tile 0.16 1126:17,23 fa66:17,23
trbm.frames._put_slopes 0.16 1ad9:17,23
trbm.frames._slopes_tile 0.50 64f5:17,23
trbm.frames.add_product 0.09 253f:17,23 3344:17,23
trbm.frames.slope_sums 0.17 4838:17,23
trbm.frames.slopes_row 0.40 9629:17,23
unit.distribution._edges 0.13 c23f:0,4,6,11,19 cb18:21
unit.distribution._log_share 0.11 b843:21 c770:4,6,19
unit.distribution._polish 0.13 1315:2,9,19 8661:21
unit.distribution._ratio_and_power 0.02 930d:0,2,4,6,9,11,19 ad24:21
unit.distribution._share 0.03 930d:0,4,6,11,19 ad24:21
unit.distribution._within 0.03 783b:0,2,4,5,6,8,9,11,19 f78f:21
unit.distribution.cdf 0.10 0f27:0,19 8491:21
unit.distribution.cut 0.32 0f27:0,2,4,5,6,8,9,11,19 8491:21
unit.distribution.entropy 0.12 ddcb:1,19 f24d:21
unit.distribution.log_mass 0.14 ddcb:3,19 f24d:21
unit.distribution.logcdf 0.13 0f27:4,19 8491:21
unit.distribution.logpdf 0.17 0f27:5,8,19 8491:21
unit.distribution.logsf 0.06 0f27:6,19 8491:21
unit.distribution.piece 0.10 2303:0,2,3,4,5,6,8,9,11,19 c0f6:21
unit.distribution.ppf 0.33 2303:2,9,19 c0f6:21
unit.distribution.sf 0.07 0f27:11,19 8491:21
unit.nonpositive_precision.evaluate_nonpositive 0.88 ddcb:17,23
unit.nonpositive_precision.invalid 0.04 ddcb:17,23
unit.nonpositive_precision.node_weight 0.03 ca4a:17,23
unit.nonpositive_precision.panel_edge 0.08 844d:17,23
unit.nonpositive_precision.panels_of 0.09 783b:17,23
unit.nonpositive_precision.reflect 0.04 ddcb:17,23
unit.normalizer.evaluate 0.11 ddcb:7,12,13,14,15,18,19,20,22 f24d:15,16,17,20,21,22,23
unit.normalizer.evaluate_one 0.15 ddcb:17,23
unit.normalizer.evaluate_wide 0.06 ddcb:22 f24d:16,22
unit.normalizer.is_narrow 0.04 1e5d:0,1,2,3,4,5,6,7,8,9,11,12,13,14,15,17,18,19,20,22,23 4cd0:15,16,17,20,21,22,23
unit.normalizer.is_wide 0.02 783b:22 f78f:16,22
unit.normalizer.narrow_integrals 0.15 1e5d:0,1,2,3,4,5,6,7,8,9,11,12,13,14,15,17,18,19,20,22,23 4cd0:15,16,17,20,21,22,23
unit.normalizer.outputs 0.43 a09e:15,16,17,20,21,22,23 b950:7,12,13,14,15,17,18,19,20,22,23
unit.normalizer.whiten 0.12 ddcb:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,17,18,19,20,22,23 f24d:10,15,16,17,20,21,22,23
unit.normalizer.wide_integrals 0.22 ddcb:1,7,12,13,14,15,17,18,19,20,22,23 f24d:15,16,17,20,21,22,23
unit.quantile.hazard_guess 0.04 783b:2,9,10,14,18,19,22 f78f:10,15,17,20,21,23
unit.quantile.hazard_refine 0.12 ddcb:2,9,10,14,18,19,22 f24d:10,15,17,20,21,23
unit.quantile.invert 0.57 2303:2,9,10,14,18,19,22 c0f6:10,15,17,20,21,23
unit.quantile.quantile 0.05 0f27:10,14,18,19,22 8491:10,15,17,20,21,23
unit.quantile.rough_log 0.03 2d4e:2,9,10,14,18,19,22 e6df:10,15,17,20,21,23
unit.quantile.rounded 0.01 1e5d:2,9,10,14,18,19,22 4cd0:10,15,17,20,21,23
unit.quantile.slope 0.03 1e5d:2,9,10,14,18,19,22 4cd0:10,15,17,20,21,23
unit.scalars._evaluate 0.35 ddcb:17,23
unit.scalars.mean_variance 0.41 ddcb:17,23
unit.scaling._decay 0.05 ddcb:17,23
unit.scaling._exponent 0.04 2d4e:17,23
unit.scaling.exponent_of_length 0.06 ddcb:17,23
unit.scaling.exponential 0.12 ddcb:17,23
unit.scaling.formulas_of 0.23 ddcb:17,23
unit.scaling.free_normal 0.14 ddcb:17,23
unit.scaling.is_exponential 0.10 ddcb:17,23
unit.scaling.is_plain 0.07 ddcb:17,23
unit.scaling.measured 0.07 ddcb:17,23
unit.truncation_coordinates.ends 0.02 ef45:16,22
unit.truncation_coordinates.slopes 0.02 248d:16,22
"""
