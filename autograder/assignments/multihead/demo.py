"""A simulated class for ``multihead``: some got it right, the others did not, each in a way of their own."""

from autograder.checking.simulated import SimulatedStudent

SPLIT = """\
def split_heads(x, heads):
    if isinstance(heads, bool) or not isinstance(heads, (int, np.integer)):
        raise TypeError("heads must be an integer")
    if x.ndim != 3 or heads < 1 or x.shape[2] % heads:
        raise ValueError("x must be (B, T, C), and heads must divide C")
    B, T, C = x.shape
    return x.reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)
"""

MERGE = """\
def merge_heads(h):
    if h.ndim != 4:
        raise ValueError("h must be (B, H, T, d)")
    B, H, T, d = h.shape
    return h.transpose(0, 2, 1, 3).reshape(B, T, H * d)
"""

FORWARD = """\
def multihead(x, params, heads, allowed):
    x = x if x.dtype.kind == "f" else x.astype(float)
    q, k, v = (split_heads(x @ params[name], heads) for name in ("wq", "wk", "wv"))
    out, inner = attention(q, k, v, allowed)
    joined = merge_heads(out)
    return joined @ params["wo"], {"x": x, "heads": heads, "attention": inner, "joined": joined}
"""

BACKWARD = """\
def multihead_backward(cache, params, dy):
    x, joined, heads = cache["x"], cache["joined"], cache["heads"]
    B, T, C = x.shape
    inner = attention_backward(cache["attention"], split_heads(dy @ params["wo"].T, heads))
    parts = {"wq": merge_heads(inner["q"]), "wk": merge_heads(inner["k"]), "wv": merge_heads(inner["v"])}
    grads = {name: x.reshape(-1, C).T @ part.reshape(-1, C) for name, part in parts.items()}
    grads["wo"] = joined.reshape(-1, C).T @ dy.reshape(-1, C)
    dx = sum(part @ params[name].T for name, part in parts.items())
    return dx, grads
"""

SPLIT_BY_HEAD = """\
def split_heads(x, heads):
    if type(heads) is bool or not np.issubdtype(type(heads), np.integer) or np.ndim(x) != 3:
        raise TypeError("split_heads(x, heads): x has three axes, heads is an integer")
    if heads <= 0 or x.shape[-1] % heads:
        raise ValueError("heads does not divide the channels")
    return np.stack(np.split(x, heads, axis=2), axis=1)   # one slice of channels a head
"""

MERGE_BY_HEAD = """\
def merge_heads(h):
    if np.ndim(h) != 4:
        raise ValueError("four axes, please")
    return np.concatenate([h[:, i] for i in range(h.shape[1])], axis=2)
"""

FORWARD_BY_HAND = """\
def multihead(x, params, heads, allowed):
    x = np.asarray(x, dtype=np.result_type(x, params["wq"], np.float32))
    q = split_heads(np.einsum("btc,cd->btd", x, params["wq"]), heads)
    k = split_heads(np.einsum("btc,cd->btd", x, params["wk"]), heads)
    v = split_heads(np.einsum("btc,cd->btd", x, params["wv"]), heads)
    scores = np.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
    scores = np.where(allowed, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    joined = merge_heads(np.einsum("bhij,bhjd->bhid", weights, v))
    cache = {"x": x, "heads": heads, "joined": joined, "attention": (q, k, v, weights)}
    return np.einsum("btc,cd->btd", joined, params["wo"]), cache
"""

BACKWARD_BY_HAND = """\
def multihead_backward(cache, params, dy):
    x, joined = cache["x"], cache["joined"]
    q, k, v, weights = cache["attention"]
    dout = split_heads(np.einsum("btd,cd->btc", dy, params["wo"]), cache["heads"])
    dweights = np.einsum("bhid,bhjd->bhij", dout, v)
    dscores = weights * (dweights - (dweights * weights).sum(axis=-1, keepdims=True)) / q.shape[-1] ** 0.5
    dq = merge_heads(np.einsum("bhij,bhjd->bhid", dscores, k))
    dk = merge_heads(np.einsum("bhij,bhid->bhjd", dscores, q))
    dv = merge_heads(np.einsum("bhij,bhid->bhjd", weights, dout))
    outer = lambda a, b: np.einsum("bti,btj->ij", a, b)
    grads = {"wq": outer(x, dq), "wk": outer(x, dk), "wv": outer(x, dv), "wo": outer(joined, dy)}
    return dq @ params["wq"].T + dk @ params["wk"].T + dv @ params["wv"].T, grads
"""

ANSWER = (
    "With one key the softmax is 1 whatever the score is, so Q and K do not matter: the output is the value, "
    "and their gradients are zero. A test needs several different tokens and a dy that is not constant."
)

RIGHT = {
    "split_heads": SPLIT,
    "merge_heads": MERGE,
    "multihead": FORWARD,
    "multihead_backward": BACKWARD,
    "one_key": ANSWER,
}


def _but(**cells: str) -> dict[str, str]:
    """All right, but for these cells."""
    return RIGHT | cells


def _changed(text: str, old: str, new: str) -> str:
    """The text with one place changed; raises ValueError where there is no such place."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} must stand in the text once")
    return text.replace(old, new)


students = (
    SimulatedStudent("ada", "all right, with reshape and transpose", RIGHT),
    SimulatedStudent(
        "bela",
        "all right, in another style: slices, einsum, an attention of their own",
        {
            "split_heads": SPLIT_BY_HEAD,
            "merge_heads": MERGE_BY_HEAD,
            "multihead": FORWARD_BY_HAND,
            "multihead_backward": BACKWARD_BY_HAND,
            "one_key": ANSWER,
        },
    ),
    SimulatedStudent("chen", "handed in what was handed out"),
    SimulatedStudent(
        "dora",
        "reshapes directly to (B, H, T, d)",
        _but(
            split_heads=_changed(
                SPLIT,
                "x.reshape(B, T, heads, C // heads).transpose(0, 2, 1, 3)",
                "x.reshape(B, heads, T, C // heads)",
            )
        ),
    ),
    SimulatedStudent(
        "emil",
        "scales by the square root of C instead of d",
        _but(
            multihead=_changed(
                FORWARD, "attention(q, k, v, allowed)", "attention(q / np.sqrt(heads), k, v, allowed)"
            )
        ),
    ),
    SimulatedStudent(
        "fay",
        "forgets the route through K into x",
        _but(
            multihead_backward=_changed(
                BACKWARD,
                "for name, part in parts.items())\n    return",
                'for name, part in parts.items() if name != "wk")\n    return',
            )
        ),
    ),
    SimulatedStudent(
        "goran",
        "averages the gradients over batch and time",
        _but(
            multihead_backward=_changed(
                BACKWARD,
                "return dx, grads",
                "return dx, {name: grad / (B * T) for name, grad in grads.items()}",
            )
        ),
    ),
    SimulatedStudent(
        "hana",
        "a syntax error in multihead",
        _but(multihead=_changed(FORWARD, "joined = merge_heads(out)", "joined = merge_heads(out")),
    ),
    SimulatedStudent(
        "ivo",
        "an endless loop in multihead_backward",
        _but(
            multihead_backward="def multihead_backward(cache, params, dy):\n    while True:\n        pass\n"
        ),
    ),
    SimulatedStudent(
        "jun",
        "a cell that ends the Python process",
        RIGHT,
        extra_cells=("import os\nos.kill(os.getpid(), 9)",),
    ),
    SimulatedStudent("kim", "deleted the test cell of merge_heads", RIGHT, deleted=("test_merge_heads",)),
    SimulatedStudent("lena", "renamed the notebook", RIGHT, file_name="homework final (2).ipynb"),
    SimulatedStudent(
        "milo",
        "prints, warns, plots nothing, adds cells: all right all the same",
        _but(split_heads=SPLIT + '\nimport warnings\nwarnings.warn("just looking")\nprint(split_heads)\n'),
        extra_cells=("%time sum(range(10))", "split_heads(np.zeros((1, 2, 4)), np.int64(2)).shape"),
    ),
    SimulatedStudent("nora", "handed in an empty file", file_name="multihead.ipynb", deleted=("*",)),
)
