import importlib
import re
from typing import Any

import pytest

from autograder.checking.mistakes import Mistake, MistakeSet
from autograder.model import Verdict

#: Which checks each mistake fails: checks, then names. A question mark: it depends on the numbers drawn.
FAILED = {
    "split_heads": """
visible values dtypes extremes bad_heads: direct_reshape no_swap
visible values dtypes bad_heads: interleaved transposed_then_reshaped
visible values dtypes extremes: heads_before_batch viewed_into_batch heads_in_batch
    heads_outside_batch features_before_time one_head channels_for_each_head list_of_heads
    heads_taken_for_width
extremes: one_head_as_it_is one_channel_refused
bad_heads: only_divisibility floored bool_passes converted
dtypes: numpy_integers_refused
bad_heads bad_axes: asserted
bad_axes: any_axes
untouched: shape_set_in_place
values extremes: made_float32
repeatable: one_buffer
""",
    "merge_heads": """
visible values dtypes extremes: no_transpose heads_before_batch heads_before_batch_alone
    sequences_concatenated all_axes_reversed averaged averaged_and_tiled first_head joined_in_time
    channels_before_time heads_reversed
visible values dtypes: interleaved
extremes: one_head_as_it_is
bad_axes: any_axes
values dtypes extremes: made_integer
untouched: within_h
repeatable: kept_array
""",
    "multihead": """
visible all_allowed masked dtypes large_scores extremes cache: scale_d_model scale_heads scale_seq
    scale_after_softmax softmax_over_queries softmax_over_heads mask_inverted always_causal
    made_float32 made_float32_throughout values_not_projected values_by_wk
    keys_and_values_exchanged weights_transposed one_head joined_by_reshape
    split_and_joined_by_reshape values_joined
visible all_allowed masked dtypes large_scores cache: no_scale scale_twice scale_multiplied
large_scores: no_maximum one_maximum hidden_by_minus_hundred
visible masked dtypes large_scores extremes cache: mask_after_softmax scores_times_mask mask_added
    mask_transposed mask_of_first_query mask_of_first_head mask_ignored
visible all_allowed: causal_by_default
visible all_allowed masked dtypes ?large_scores ?extremes ?cache: diagonal_hidden
dtypes: like_x
visible all_allowed masked dtypes large_scores extremes cache repeatable: y_alone
visible all_allowed masked dtypes large_scores extremes cache ?untouched ?repeatable:
    mask_inverted_for_attention
visible cache: joined_is_y
cache: queries_kept_as_x
untouched: x_overwritten scale_put_into_wq
?all_allowed ?masked ?dtypes ?large_scores ?extremes ?cache: first_params_kept
visible all_allowed masked dtypes large_scores extremes cache untouched repeatable:
    very_first_params_kept
repeatable: one_cache
visible all_allowed masked dtypes large_scores extremes: no_output_projection wo_transposed
    residual_added made_float32_at_the_end
all_allowed masked dtypes large_scores extremes cache: keys_by_wq queries_and_keys_exchanged
    split_before_projection
visible ?all_allowed ?masked ?dtypes ?large_scores extremes ?cache ?untouched ?repeatable: two_heads
extremes: axes_of_one_dropped
""",
    "multihead_backward": """
dx dwq dwk dwv dtypes large_scores extremes: split_by_reshape merged_by_reshape shared_among_heads
    weights_without_mask
visible dx dwq dwk dtypes large_scores: scale_left_out scale_twice
visible dx dwk dtypes large_scores: scale_on_queries_only
dx dwq dwk dtypes large_scores extremes: scale_d_model
dx dwq dwk dwv dwo dtypes large_scores extremes cost: scale_d_model_in_both dy_averaged_in_time
    dy_reversed_in_time
visible dx dwq dwk dtypes large_scores extremes: softmax_diagonal_only softmax_sum_missing
    softmax_left_out softmax_sum_over_queries weights_are_constants
large_scores: weights_without_maximum
visible dx dwk dtypes large_scores extremes: scores_not_transposed
visible dx dwv dtypes large_scores extremes: weights_not_transposed
visible dx dwq dwk dwv dwo dtypes large_scores extremes cost: made_float32 dy_ignored
dtypes: like_params
visible dwq dwk dwv dwo dtypes large_scores extremes: keys_renamed averaged_over_batch
    averaged_over_tokens first_sequence_only last_token_only batch_axis_kept matrices_transposed
visible dx dwq dwk dwv dwo dtypes large_scores extremes repeatable cost: results_exchanged
untouched repeatable: cache_used_up weights_overwritten
untouched: dy_changed
visible ?dwq ?dwk ?dwv ?dwo ?dtypes ?large_scores ?extremes repeatable: accumulated
    accumulated_by_shape accumulated_in_place
visible dx dwq dwk dwv dwo dtypes large_scores extremes untouched repeatable cost:
    accumulated_whatever_the_shape
repeatable: buffers_kept buffers_kept_of_the_matrices
visible dx dtypes large_scores extremes: routes_overwritten query_route_missing key_route_missing
    value_route_missing routes_averaged query_route_twice projections_left_out residual_added
visible dwq dwk dwv dtypes large_scores extremes: own_output_for_input
visible dwo dtypes large_scores extremes: dwo_from_x
dwo dtypes large_scores extremes: dwo_from_unmerged_heads
visible dx dwq dwk dwv dtypes large_scores extremes: wo_not_transposed wo_left_out
dx dtypes large_scores extremes: projections_not_transposed
visible dwq dwk dtypes large_scores extremes: dwq_and_dwk_exchanged
visible dx dwq dwk dtypes large_scores extremes: query_and_key_parts_exchanged
""",
}
#: Too slow to be run through all checks.
SLOW = {("multihead_backward", "numerical")}
SEEDS = range(3)


def of(exercise: str) -> MistakeSet:
    module: Any = importlib.import_module(f"autograder.assignments.multihead.mistakes.{exercise}")
    assert isinstance(module.mistakes, MistakeSet)
    return module.mistakes


ALL = [mistake for exercise in FAILED for mistake in of(exercise).forms()]
EXPECTED = {
    (exercise, name): checks.split()
    for exercise, table in FAILED.items()
    for checks, names in re.findall(r"^(\S.*?):((?:.|\n )*)$", table, re.MULTILINE)
    for name in names.split()
}


def test_the_table_has_each_mistake_once() -> None:
    assert {(one.exercise, one.name) for one in ALL} == EXPECTED.keys() | SLOW
    assert len(ALL) == len(EXPECTED) + len(SLOW)
    assert len(ALL) >= 130


@pytest.mark.parametrize(
    "mistake",
    [one for one in ALL if (one.exercise, one.name) not in SLOW],
    ids=lambda one: f"{one.exercise}-{one.name}",
)
def test_a_mistake_loses_points_where_it_should_and_nowhere_else(grading: Any, mistake: Mistake) -> None:
    names = EXPECTED[mistake.exercise, mistake.name]
    must = {name for name in names if not name.startswith("?")}
    may = {name.removeprefix("?") for name in names}
    for seed in SEEDS:
        result = grading.exercise(mistake.exercise, mistake.namespace(grading.reference), seed)
        lost = grading.lost(result)
        assert lost
        assert must <= lost <= may
        assert result.score is not None
        assert result.score < result.max_score


def test_derivatives_by_small_steps_are_right_but_fail_by_their_cost(grading: Any) -> None:
    namespace = of("multihead_backward")["numerical"].namespace(grading.reference)
    values = grading.exercise("multihead_backward", namespace, only=["dx", "dwq", "dwo"])
    assert grading.lost(values) == set()
    cost = grading.exercise("multihead_backward", namespace, only=["dx", "cost"], call_seconds=0.5)
    assert [check.verdict for check in cost.checks] == [Verdict.PASSED, Verdict.TIMED_OUT]
    assert "If it differentiates numerically, that is why" in cost.checks[1].message
    assert "Write the gradients as formulas" in str(cost.checks[1].hint)


def test_beliefs_and_hints_are_sentences_and_no_belief_is_told_twice() -> None:
    for mistake in ALL:
        assert mistake.belief.endswith(".")
        assert mistake.hint.endswith((".", "?"))
        assert mistake.seen == "courses" or "#" in mistake.seen
    assert len({(one.exercise, one.belief) for one in ALL}) == len({(one.exercise, one.id) for one in ALL})
