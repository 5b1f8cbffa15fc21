"""A skeleton small enough to be posed by hand, as a file says it."""

# A spine that cannot turn and two arms; the left one turns about axes of its own.
SMALL = """\
# a comment
:version 1.10
:units
  mass 1.0
  length 0.45
  angle deg
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name spine
     direction 0 1 0
     length 2
     axis 0 0 0 XYZ
  end
  begin
     id 2
     name larm
     direction 1 0 0
     length 3
     axis 0 0 90 XYZ
    dof rx rz
    limits (-45.0 45.0)
           (-45.0 45.0)
  end
  begin
     id 3
     name lhand
     direction 1 0 0
     length 1
     axis 0 0 0 XYZ
    dof ry
  end
  begin
     id 4
     name rarm
     direction -1 0 0
     length 3
     axis 0 0 0 XYZ
    dof rz
  end
:hierarchy
  begin
    root spine
    spine larm rarm
    larm lhand
  end
"""
