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
# For each kernel: its name; 32 if float32 is among the types of its arguments; seconds to compile
# it, without those that it calls (AMD EPYC); and which of the calls need it, with how many
# choices of types, if it is not one.
KERNELS = """
arrays._density 32 0.02 21
arrays._density 64 0.02 8 19
arrays._log_density 32 0.01 21
arrays._log_density 64 0.02 5 19
arrays._part 32 0.13 10 21
arrays._part 64 0.11 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 19
arrays._placed 32 0.01 10 21
arrays._placed 64 0.02 2 9 10:2 19
arrays._points 32 0.17 21
arrays._points 64 0.16 0 4 5 6 8 11 19
arrays._probability 32 0.01 21
arrays._probability 64 0.01 0 4 6 11 19
arrays._quantiles 32 1.06 21:2
arrays._quantiles 64 0.64 2 9 19:2
arrays._shape 32 0.35 10 21
arrays._shape 64 0.46 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 19
arrays._skewness 32 0.02 21
arrays._skewness 64 0.03 12 19
arrays._stretched 32 0.01 21
arrays._stretched 64 0.02 13 19
arrays._sum 32 0.02 21
arrays._sum 64 0.04 7 19
arrays._unless_amiss 32 0.02 21
arrays._unless_amiss 64 0.02 3 12 19
arrays._variance 32 0.01 21
arrays._variance 64 0.02 13 19
arrays._widened 32 0.02 21
arrays._widened 64 0.10 1 19
arrays.cdf 32 0.40 21
arrays.cdf 64 0.42 0 19
arrays.entropy 32 0.33 21
arrays.entropy 64 0.36 1 19
arrays.isf 32 0.28 21
arrays.isf 64 0.10 2 19
arrays.log_mass 32 0.40 21
arrays.log_mass 64 0.33 3 19
arrays.logcdf 32 0.66 21
arrays.logcdf 64 0.57 4 19
arrays.logpdf 32 0.39 21
arrays.logpdf 64 0.39 5 19
arrays.logsf 32 0.48 21
arrays.logsf 64 0.51 6 19
arrays.mean 32 0.29 21
arrays.mean 64 0.56 7 19
arrays.pdf 32 0.41 21
arrays.pdf 64 0.41 8 19
arrays.ppf 32 0.14 21
arrays.ppf 64 0.10 9 19
arrays.rvs 32 0.61 10 21
arrays.rvs 64 0.51 10:2 19
arrays.sf 32 0.41 21
arrays.sf 64 0.51 11 19
arrays.skewness 32 0.32 21
arrays.skewness 64 0.35 12 19
arrays.var 32 0.27 21
arrays.var 64 0.35 13 19
loops.run 64 0.46 14 17 18 20 22 23
optimizer._update_strip 32 0.12 15 17 20 23
optimizer.apply_rule 32 0.56 15 16 17 20 22 23
optimizer.update_weights 32 0.14 15 17 20 23
random.philox._uniform_row_32 32 0.20 10 17 20 21 23
random.philox._uniform_row_64 64 0.18 10:2 14 18 19 22
random.philox.block 64 0.05 10:3 14 17 18 19 20 21 22 23
random.philox.double_from_words 64 0.06 10:4 14:2 18:2 19:2 22:2
random.philox.padded 64 0.02 14 17 18 20 22 23
random.philox.philox 64 0.06 10:3 14 17 18 19 20 21 22 23
random.philox.single_from_word 64 0.03 10:2 17:2 20:2 21:2 23:2
rbm.annealing._hidden_tile 64 0.89 14 18
rbm.annealing._visible_tile 64 0.64 14 18
rbm.annealing.add_gains 64 0.15 14 18
rbm.annealing.anneal 64 0.79 14 18
rbm.annealing.begin 64 0.39 14 18
rbm.annealing.bias_change 64 0.14 14 18
rbm.annealing.hidden_gain 64 0.19 14 18
rbm.annealing.hidden_half_step 64 0.50 14:2 18:2
rbm.annealing.inner 64 0.34 14 18
rbm.annealing.linear_parts 64 0.33 14 18
rbm.annealing.points_for 64 0.03 14 18
rbm.annealing.scale_precision 64 0.15 14 18
rbm.annealing.scaled_log_norm 64 0.06 14 18
rbm.annealing.visible_gain 64 0.44 14 18
rbm.annealing.visible_half_step 64 0.53 14:2 18:2
rbm.annealing.visible_step 64 0.29 14 18
rbm.binary.add_panel 32 0.04 17 20 23
rbm.binary.add_panel 64 0.07 14 15 18 20 22
rbm.binary.column_bits 32 0.26 15 17 20 23
rbm.binary.lanes_of 32 0.02 15 17:2 20:2 23:2
rbm.binary.lanes_of 64 0.02 14:2 15 18:2 20 22
rbm.binary.multiply 32 0.63 17 20 23
rbm.binary.multiply 64 0.56 14:2 15 18:2 20 22
rbm.binary.pack 32 0.25 15 17:2 20:2 23:2
rbm.binary.pack 64 0.28 14:2 15 18:2 20 22
rbm.binary.row_bits 32 0.25 17 20 23
rbm.binary.row_bits 64 0.30 14 15 18 20 22
rbm.binary.words_for 64 0.01 14 17 18 20 22 23
rbm.free_energy._log_norm_tile 64 0.20 14:2 15 18:2 20 22
rbm.free_energy.log_norm_parts 64 0.29 14:2 15 18:2 20 22
rbm.gibbs._draw_tile 32 0.07 17 20 23
rbm.gibbs._draw_tile 64 0.05 22
rbm.gibbs._moments_tile 32 0.44 17 20 23
rbm.gibbs._moments_tile 64 0.61 14 18 22
rbm.gibbs._net_tile 32 0.08 20
rbm.gibbs._net_tile 64 0.10 14 18 22
rbm.gibbs._statistics_tile 32 0.42 17 20 23
rbm.gibbs._step_hidden_tile 32 0.07 15 17 20 23
rbm.gibbs._step_hidden_tile 64 0.06 22
rbm.gibbs._step_visible_tile 32 0.35 15 17 20 23
rbm.gibbs.add_bias 32 0.18 17 20 23
rbm.gibbs.add_bias 64 0.19 14 15 18 20 22
rbm.gibbs.draw_hidden 32 0.21 17 20 23
rbm.gibbs.draw_hidden 64 0.15 22
rbm.gibbs.draw_hidden_tile 32 0.36 17 20 23
rbm.gibbs.draw_hidden_tile 64 0.28 22
rbm.gibbs.draw_visible_row 32 0.25 15 17 20 23
rbm.gibbs.draw_visible_row 64 0.30 14 18
rbm.gibbs.hidden_moments 32 0.28 20
rbm.gibbs.hidden_moments 64 0.35 14 18 22
rbm.gibbs.hidden_net 32 0.16 17 20 23
rbm.gibbs.hidden_net 64 0.17 14:2 15 18:2 20 22
rbm.gibbs.hidden_statistics 32 0.28 17 20 23
rbm.gibbs.iterate_means 32 0.24 17 23
rbm.gibbs.mean_visible_row 32 0.09 15 17 20 23
rbm.gibbs.model_phase 32 0.27 15 17 20 23
rbm.gibbs.moments_from_net 32 0.20 17 20 23
rbm.gibbs.moments_from_net 64 0.25 14 18 22
rbm.gibbs.net_inputs 32 0.20 20
rbm.gibbs.net_inputs 64 0.19 14 18 22
rbm.gibbs.run_chains 32 0.38 20 23:2
rbm.gibbs.step_hidden 32 0.16 15 17 20 23
rbm.gibbs.step_hidden 64 0.18 22
rbm.gibbs.step_visible 32 0.17 15 17 20 23
rbm.gibbs.sum_chains 32 0.37 23
rbm.gradients._gradient_strip 32 0.28 15 17 20 23
rbm.gradients._pack_panel 32 0.11 15 17 20 23
rbm.gradients.binary_gradient 32 0.45 15 17 20 23
rbm.gradients.centre_row 32 0.20 15 17 20 23
rbm.gradients.weight_gradient 32 0.49 15 17 20 23
rbm.hidden._put_moments 32 0.05 17 20 23
rbm.hidden._put_moments 64 0.05 14 18 22
rbm.hidden._put_statistics 32 0.23 17 20 23
rbm.hidden.draw_row 32 0.28 17 20 23
rbm.hidden.draw_row 64 0.29 14 18 22
rbm.hidden.log_norm_row 64 0.29 14 15 18 20 22
rbm.hidden.mean_row 32 0.26 17 20 23
rbm.hidden.mean_row 64 0.16 14 18
rbm.hidden.moments_row 32 0.63 17 20 23
rbm.hidden.moments_row 64 0.32 14 18 22
rbm.hidden.ordered_sum 64 0.25 14 15 18 20 22
rbm.hidden.part_of 32 0.13 17:2 20 23:2
rbm.hidden.part_of 64 0.07 14:2 15 18:2 20 22
rbm.hidden.statistics_row 32 0.39 17 20 23
special.elementary.exp 32 0.07 10 16 17 20 21 22 23
special.elementary.exp 64 0.05 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 14 15 18 19 20 22 23
special.elementary.exp_and_expm1 32 0.07 10 16 17 20 21 22 23
special.elementary.exp_and_expm1 64 0.07 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 14 15 18 19 20 22 23
special.elementary.exp_parts 32 0.03 10 16 17 20 21 22 23
special.elementary.exp_parts 64 0.04 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 14 15 18 19 20 22 23
special.elementary.log 32 0.10 10 16 17 20 21 22 23
special.elementary.log 64 0.08 1 2 3 4 5 6 7 8 9 10:2 12 13 14 15 18 19 20 22 23
special.elementary.log1p 32 0.03 17 20 21 23
special.elementary.log1p 64 0.04 2 3 4 6 9 14 15 18 19 20 22
special.elementary.log_of_any 32 0.07 21
special.elementary.log_of_any 64 0.06 1 2 3 4 5 6 8 9 19
special.elementary.sigmoid 32 0.03 17 20 23
special.elementary.sigmoid 64 0.02 14 18 22
special.elementary.softplus 32 0.04 17 20 23
special.elementary.softplus 64 0.04 14 15 18 20 22
special.tails.bounded 32 0.03 10 16 17 20 21 22 23
special.tails.bounded 64 0.03 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 14 15 18 19 20 22 23
special.tails.tail_integrals 32 0.06 16 17 20 21 22 23
special.tails.tail_integrals 64 0.05 0 1 2 3 4 5 6 7 8 9 11 12 13 14 15 18 19 20 22 23
tggm.epoch.end_coordinates 32 0.29 16 22
tggm.epoch.gather_rows 32 0.05 16 22
tggm.epoch.move 32 0.14 16:2 22:2
tggm.epoch.place_ends 32 0.41 16 22
tggm.epoch.rule_of 64 0.31 16 22
tggm.epoch.score 32 0.71 16 22
tggm.epoch.step 32 0.24 16 22
tggm.epoch.train_epoch 32 0.88 16 22
tggm.mean_field._posterior_block 64 0.31 22
tggm.mean_field.bound_constant 32 0.09 16 22
tggm.mean_field.bound_constant 64 0.09 22
tggm.mean_field.copy 32 0.04 16 22
tggm.mean_field.copy 64 0.04 22
tggm.mean_field.derive 32 0.16 16 22
tggm.mean_field.derive 64 0.17 22
tggm.mean_field.fill 32 0.05 16:2 22:2
tggm.mean_field.fill 64 0.04 22
tggm.mean_field.infer 32 0.46 16 22
tggm.mean_field.infer 64 0.63 22
tggm.mean_field.input_net 32 0.17 16 22
tggm.mean_field.input_net 64 0.18 22
tggm.mean_field.largest 32 0.09 16 22
tggm.mean_field.largest 64 0.06 22
tggm.mean_field.mean_of_unit 32 0.21 16 22
tggm.mean_field.mean_of_unit 64 0.15 22
tggm.mean_field.moments_of_unit 32 0.58 16 22
tggm.mean_field.moments_of_unit 64 0.35 22
tggm.mean_field.move_mean 32 0.08 16 22
tggm.mean_field.move_mean 64 0.07 22
tggm.mean_field.move_residual 32 0.11 16 22
tggm.mean_field.move_residual 64 0.10 22
tggm.mean_field.net_given_rest 32 0.26 16 22
tggm.mean_field.net_given_rest 64 0.33 22
tggm.mean_field.new_moments 32 0.15 16 22
tggm.mean_field.new_moments 64 0.15 22
tggm.mean_field.posterior 64 0.43 22
tggm.mean_field.prior 32 0.37 16 22
tggm.mean_field.prior 64 0.27 22
tggm.mean_field.residual_of 32 0.22 16 22
tggm.mean_field.residual_of 64 0.13 22
tggm.mean_field.total_of 32 0.04 16 22
tggm.objectives.add_ends 32 0.22 16 22
tggm.objectives.batch_gradient 32 0.64 16 22
tggm.objectives.bound_gradient 32 1.89 16 22
tggm.objectives.network_of 32 0.51 16 22
tggm.objectives.new_work 32 0.38 16 22
tggm.objectives.parts 32 0.33 16 22
tggm.objectives.predictive_rows 32 0.51 16 22
tiles._gather_some 32 0.20 17 20 23
tiles.copy_rows 32 0.09 16 17:2 20 22 23:2
tiles.gather 32 0.09 17 20 23
tiles.tile 64 0.05 14:3 15 17:2 18:3 20:2 22 23:2
tiles.tile_count 64 0.03 14:5 15:2 17:3 18:5 20:4 22:2 23:3
trbm.filter._backward_group 32 0.25 17 23
trbm.filter._filter_group 32 0.27 17 23
trbm.filter.add_rows_product 32 0.49 17:2 23:2
trbm.filter.run_backward 32 0.17 17 23
trbm.filter.run_filter 32 0.18 17 23
trbm.frames._product_tile 32 0.22 17:2 23:2
trbm.frames._put_slopes 32 0.23 17 23
trbm.frames._slopes_tile 32 0.33 17 23
trbm.frames.add_product 32 0.11 17:2 23:2
trbm.frames.slope_sums 32 0.24 17 23
trbm.frames.slopes_row 32 0.82 17 23
unit.distribution._edges 32 0.08 21
unit.distribution._edges 64 0.12 0 4 6 11 19
unit.distribution._log_share 32 0.07 21
unit.distribution._log_share 64 0.12 4 6 19
unit.distribution._polish 32 0.07 21
unit.distribution._polish 64 0.13 2 9 19
unit.distribution._ratio_and_power 32 0.02 21
unit.distribution._ratio_and_power 64 0.02 0 2 4 6 9 11 19
unit.distribution._share 32 0.03 21
unit.distribution._share 64 0.03 0 4 6 11 19
unit.distribution._within 32 0.04 21
unit.distribution._within 64 0.04 0 2 4 5 6 8 9 11 19
unit.distribution.cdf 32 0.05 21
unit.distribution.cdf 64 0.07 0 19
unit.distribution.cut 32 0.50 21
unit.distribution.cut 64 0.32 0 2 4 5 6 8 9 11 19
unit.distribution.entropy 32 0.23 21
unit.distribution.entropy 64 0.11 1 19
unit.distribution.log_mass 32 0.12 21
unit.distribution.log_mass 64 0.11 3 19
unit.distribution.logcdf 32 0.05 21
unit.distribution.logcdf 64 0.18 4 19
unit.distribution.logpdf 32 0.12 21
unit.distribution.logpdf 64 0.11 5 8 19
unit.distribution.logsf 32 0.04 21
unit.distribution.logsf 64 0.07 6 19
unit.distribution.piece 32 0.09 21
unit.distribution.piece 64 0.10 0 2 3 4 5 6 8 9 11 19
unit.distribution.ppf 32 0.24 21
unit.distribution.ppf 64 0.35 2 9 19
unit.distribution.sf 32 0.04 21
unit.distribution.sf 64 0.08 11 19
unit.nonpositive_precision.evaluate_nonpositive 64 0.73 23
unit.nonpositive_precision.invalid 64 0.02 23
unit.nonpositive_precision.node_weight 64 0.02 23
unit.nonpositive_precision.panel_edge 64 0.04 23
unit.nonpositive_precision.panels_of 64 0.05 23
unit.nonpositive_precision.reflect 64 0.03 23
unit.normalizer.evaluate 32 0.06 16 17 20 21 22 23
unit.normalizer.evaluate 64 0.12 7 12 13 14 15 18 19 20 22
unit.normalizer.evaluate_one 64 0.08 23
unit.normalizer.evaluate_wide 32 0.06 16 22
unit.normalizer.evaluate_wide 64 0.03 22
unit.normalizer.is_narrow 32 0.03 16 17 20 21 22 23
unit.normalizer.is_narrow 64 0.02 0 1 2 3 4 5 6 7 8 9 11 12 13 14 15 18 19 20 22 23
unit.normalizer.is_wide 32 0.02 16 22
unit.normalizer.is_wide 64 0.02 22
unit.normalizer.narrow_integrals 32 0.13 16 17 20 21 22 23
unit.normalizer.narrow_integrals 64 0.17 0 1 2 3 4 5 6 7 8 9 11 12 13 14 15 18 19 20 22 23
unit.normalizer.outputs 32 0.30 16 17 20 21 22 23
unit.normalizer.outputs 64 0.39 7 12 13 14 15 18 19 20 22 23
unit.normalizer.whiten 32 0.10 10 16 17 20 21 22 23
unit.normalizer.whiten 64 0.12 0 1 2 3 4 5 6 7 8 9 10:2 11 12 13 14 15 18 19 20 22 23
unit.normalizer.wide_integrals 32 0.24 16 17 20 21 22 23
unit.normalizer.wide_integrals 64 0.21 1 7 12 13 14 15 18 19 20 22 23
unit.quantile.hazard_guess 32 0.03 10 17 20 21 23
unit.quantile.hazard_guess 64 0.04 2 9 10:2 14 18 19 22
unit.quantile.hazard_refine 32 0.07 10 17 20 21 23
unit.quantile.hazard_refine 64 0.09 2 9 10:2 14 18 19 22
unit.quantile.invert 32 0.54 10 17 20 21 23
unit.quantile.invert 64 0.54 2 9 10:2 14 18 19 22
unit.quantile.quantile 32 0.04 10 17 20 21 23
unit.quantile.quantile 64 0.04 10:2 14 18 19 22
unit.quantile.rough_log 32 0.02 10 17 20 21 23
unit.quantile.rough_log 64 0.03 2 9 10:2 14 18 19 22
unit.quantile.rounded 32 0.01 10 17 20 21 23
unit.quantile.rounded 64 0.01 2 9 10:2 14 18 19 22
unit.quantile.slope 32 0.03 10 17 20 21 23
unit.quantile.slope 64 0.03 2 9 10:2 14 18 19 22
unit.scalars._evaluate 64 0.41 23
unit.scalars.mean_variance 64 0.21 23
unit.scaling._decay 64 0.04 23
unit.scaling._exponent 64 0.04 23
unit.scaling.exponent_of_length 64 0.06 23
unit.scaling.exponential 64 0.08 23
unit.scaling.formulas_of 64 0.13 23
unit.scaling.free_normal 64 0.13 23
unit.scaling.is_exponential 64 0.08 23
unit.scaling.is_plain 64 0.05 23
unit.scaling.measured 64 0.07 23
unit.truncation_coordinates.ends 32 0.01 16 22
unit.truncation_coordinates.slopes 64 0.01 16 22
"""
