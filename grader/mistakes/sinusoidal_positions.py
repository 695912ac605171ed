"""What goes wrong in positions without learning."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "sinusoidal_positions",
    """
## The waves

sines_and_cosines_exchanged: sines and cosines are swapped
    - (torch.sin(angle), torch.cos(angle))
    + (torch.cos(angle), torch.sin(angle))
halves_not_interleaved: all sines come before all cosines; they should alternate
    - torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)
    + torch.cat((torch.sin(angle), torch.cos(angle)), dim=-1)
only_sines: all columns are sines
    - (torch.sin(angle), torch.cos(angle))
    + (torch.sin(angle), torch.sin(angle))
angle_negative: the angles have the wrong sign
    - angle = position * frequency
    + angle = -position * frequency
table_transposed: rows and columns are swapped
    - torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)
    + torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1).T
table_of_a_batch: the table has an axis for the batch
    - torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)
    + torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)[None]
full_turns: the angles are multiplied by two pi
    - angle = position * frequency
    + angle = 2 * math.pi * position * frequency

## The frequencies

exponent_halved: the exponent uses the number of the pair, not of the column
    - torch.arange(0, width, 2)
    + torch.arange(width // 2)
exponent_doubled: the exponent uses twice the number of the column
    - torch.arange(0, width, 2)
    + 2 * torch.arange(0, width, 2)
frequency_of_each_column: both columns of a pair should have the frequency of the first
    - torch.arange(0, width, 2)
    + torch.arange(width)
    - torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)
    + torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())
frequency_of_twice_each_column: the exponent uses twice the number of the column, and differs within a pair
    - torch.arange(0, width, 2)
    + 2 * torch.arange(width)
    - torch.stack((torch.sin(angle), torch.cos(angle)), dim=-1).flatten(1)
    + torch.where(torch.arange(width) % 2 == 0, angle.sin(), angle.cos())
frequency_over_width: the power is divided by the width, not the exponent
    - torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    + 10000.0 ** -torch.arange(0, width, 2) / width
frequency_rises: the frequencies rise from pair to pair; they should fall
    - (-math.log
    + (math.log
frequency_of_1000: the base is not 10000
    - 10000.0
    + 1000.0
one_frequency: all pairs have the same frequency
    - angle = position * frequency
    + angle = position
frequencies_to_the_end: the last frequency is 1 / 10000, which is one pair too early
    - / width)
    + / max(width - 2, 1))
sinusoidal_from_one: positions are counted from 1
    - torch.arange(length)
    + torch.arange(1, length + 1)
""",
)
