"""Plate pictures of all models, see plates.py for how they are written."""

from __future__ import annotations

from plates import Picture, Plate

__all__ = ["PICTURES"]

LABELS = "labels are seen, for each label of each item"

# items stand on the left, coders on the right, the labels between them
ITEM = """
pi π 0 0
c c_i 1 0 out
y y_n 2.15 0 seen
"""
ITEM_PLATES = (Plate("label n", "y"), Plate("item i", "c y"))

PICTURES: dict[str, Picture] = {
    "pooled": Picture(
        ITEM + "zeta ζ_k 3.3 0",
        "pi>c c>y zeta>y",
        (*ITEM_PLATES, Plate("class k", "zeta")),
        "Pooled: prevalence leads to the class of an item, which with one confusion matrix leads "
        f"to the labels; {LABELS}.",
    ),
    "dawid-skene": Picture(
        ITEM + "theta θ_{j,k} 3.4 0",
        "pi>c c>y theta>y",
        (*ITEM_PLATES, Plate("class k", "theta"), Plate("coder j", "theta")),
        "Dawid-Skene: prevalence leads to the class of an item, which with the confusion matrix "
        f"of a coder leads to the labels; {LABELS}.",
    ),
    "hierarchical": Picture(
        ITEM + "theta θ_{j,k} 3.4 0\nm m_k 4.7 -0.4\ns s_k 4.7 0.4\na a 5.9 -0.4",
        "pi>c c>y theta>y m>theta s>theta a>m",
        (*ITEM_PLATES, Plate("coder j", "theta"), Plate("class k", "theta m s")),
        "Hierarchical Dawid-Skene: rows of coders are drawn from a population with a mean and a "
        f"concentration for each class, the mean around a common accuracy; {LABELS}.",
    ),
    "groups": Picture(
        ITEM + "theta θ_{j,k} 3.4 0\nm m_{g,k} 4.9 -0.4\ns s_{g,k} 4.9 0.4\na a_g 6.1 -0.4",
        "pi>c c>y theta>y m>theta s>theta a>m",
        (
            *ITEM_PLATES,
            Plate("coder j", "theta"),
            Plate("class k", "theta m s"),
            Plate("group g", "m s a"),
        ),
        "Groups of coders: rows of coders are drawn from the population of their group, which has "
        f"a mean and a concentration for each class, the mean around its accuracy; {LABELS}.",
    ),
    "class-conditional": Picture(
        ITEM + "rho ρ_{j,k} 3.4 0",
        "pi>c c>y rho>y",
        (*ITEM_PLATES, Plate("class k", "rho"), Plate("coder j", "rho")),
        "Class-conditional: the class of an item and a coder's accuracy for that class lead to "
        f"the labels; {LABELS}.",
    ),
    "one-coin": Picture(
        ITEM + "rho ρ_j 3.4 0",
        "pi>c c>y rho>y",
        (*ITEM_PLATES, Plate("coder j", "rho")),
        f"One coin: the class of an item and a coder's one accuracy lead to the labels; {LABELS}.",
    ),
    "mace": Picture(
        """
pi π 0 0
c c_i 1 0 out
know s_n 2.15 -0.9 out
y y_n 2.15 0 seen
theta θ_j 3.4 -0.9
xi ξ_j 3.4 0
""",
        "pi>c c>y know>y theta>know xi>y",
        (
            Plate("label n", "y know"),
            Plate("item i", "c y know"),
            Plate("coder j", "theta xi"),
        ),
        "MACE: for each label the coder knows or guesses, by their competence; who knows says the "
        f"class of the item, who guesses follows a habit; {LABELS}.",
    ),
    "logit-normal": Picture(
        ITEM + "beta β_{j,k} 3.4 0\nzeta ζ_k 4.7 -0.4\nomega ω_k 4.7 0.4",
        "pi>c c>y beta>y zeta>beta omega>beta",
        (*ITEM_PLATES, Plate("coder j", "beta"), Plate("class k", "beta zeta omega")),
        "Logit-normal: logits of coders are normal around a population with a location and a "
        f"spread for each class; {LABELS}.",
    ),
    "scalar-difficulty": Picture(
        """
pi π 0 0
c c_i 1 0 out
delta δ_i 1 0.95 out
rho ρ 0 0.95
y y_n 2.15 0 seen
gamma γ_{j,k} 3.4 0
eps ε_{j,k} 3.4 0.95
mu μ_k 4.7 -0.42
sigma σ_k 4.7 0.42
pop τ_k 4.7 1.2
""",
        "pi>c c>y rho>delta delta>y gamma>y eps>y mu>gamma sigma>gamma pop>eps",
        (
            Plate("label n", "y"),
            Plate("item i", "c delta y"),
            Plate("coder j", "gamma eps"),
            Plate("class k", "gamma eps mu sigma pop"),
        ),
        "Scalar difficulty: the class and the difficulty of an item meet the ability and the "
        f"leanings of a coder, which come from a population; {LABELS}.",
    ),
    "beta-binomial-by-item": Picture(
        """
pi π 0 0
c c_i 1 0 out
theta θ_i 2 0 out
y y_n 3.05 0 seen
m m_k 2 -1.55
s s_k 3.05 -1.55
""",
        "pi>c c>theta theta>y m>theta s>theta",
        (
            Plate("label n", "y"),
            Plate("item i", "c theta y"),
            Plate("class k", "m s"),
        ),
        "Beta-binomial by item: the class of an item and the mean and concentration of that class "
        f"lead to the item's own probability, which leads to all its labels; {LABELS}.",
    ),
    "item-difficulty": Picture(
        """
pi π 0 0
c c_i 1 0 out
theta θ_i 2 0 out
y y_n 3.05 0 seen
eta η_k 2 -1.55
chi χ_k 3.05 -1.55
""",
        "pi>c c>theta theta>y eta>theta chi>theta",
        (
            Plate("label n", "y"),
            Plate("item i", "c theta y"),
            Plate("class k", "eta chi"),
        ),
        "Item difficulty: the logits of an item are drawn around those of its class and lead to "
        f"all its labels; {LABELS}.",
    ),
    "logistic-random-effects": Picture(
        """
pi π 0 0
c c_i 1 0 out
theta θ_i 1 0.95 out
chi χ_k -0.2 0.95
y y_n 2.15 0 seen
beta β_{j,k} 3.4 0
zeta ζ_k 4.7 -0.42
omega Ω_k 4.7 0.42
""",
        "pi>c c>theta c>y chi>theta theta>y beta>y zeta>beta omega>beta",
        (
            Plate("label n", "y"),
            Plate("item i", "c theta y"),
            Plate("coder j", "beta"),
            Plate("class k", "beta zeta omega"),
            Plate("class k", "chi"),
        ),
        "Logistic random effects: logits of a coder for the class of an item, less an effect of "
        f"the item, lead to the labels; coders come from a population; {LABELS}.",
    ),
    "guess-level": Picture(
        """
pi π 0 0
c c_i 1 0 out
w w 0 0.95
g λ_i 1 0.95 out
y y_n 2.15 0 seen
theta θ_{j,k} 3.4 0
guess γ 3.4 1.55
""",
        "pi>c c>y w>g g>y theta>y guess>y",
        (
            Plate("label n", "y"),
            Plate("item i", "c g y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta"),
        ),
        "Item guess level: labels of an item come from the coder's row or, with the item's share "
        f"of guesses, from a distribution common to all; {LABELS}.",
    ),
    "consensus": Picture(
        """
pi π 0 0
c c'_i 1 0 out
truth t_i 1 0.95 out
b B_k -0.2 0.95
y y_n 2.15 0 seen
theta θ_{j,k} 3.4 0
""",
        "pi>c c>y c>truth b>truth theta>y",
        (
            Plate("label n", "y"),
            Plate("item i", "c truth y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta"),
            Plate("class k", "b"),
        ),
        "Consensus error: coders respond to a perceived class, from which the truth follows with "
        f"an error; {LABELS}.",
    ),
    "ambiguous": Picture(
        """
pi π 0 -0.45
alpha α 0 0.45
kind a_i,c_i 1 0 out
u u_i 1 0.95 out
z z_n 2.15 0 out
y y_n 3.15 0 seen
theta θ_{j,k} 4.4 0
""",
        "pi>kind alpha>kind kind>z u>z z>y theta>y",
        (
            Plate("label n", "z y"),
            Plate("item i", "kind u z y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta"),
        ),
        "Ambiguous items: an item has one class or a pair of them with a share; for each label a "
        f"coder perceives one of the two; {LABELS}.",
    ),
    "easy-hard": Picture(
        """
pi π 0 0
c c_i 1 0 out
eps ε 0 0.95
e e_i 1 0.95 out
y y_n 2.15 0 seen
theta θ_{j,k} 3.4 0
""",
        "pi>c c>y eps>e e>y theta>y",
        (
            Plate("label n", "y"),
            Plate("item i", "c e y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta"),
        ),
        "Easy and hard items: an easy item gets its class from everybody, a hard one labels by "
        f"the coders' rows; {LABELS}.",
    ),
    "readings": Picture(
        """
phi φ_i 1 0 out
truth t_i 1 -0.95 out
w w -0.2 -0.95
pi π -0.2 0
z z_n 2.15 0 out
y y_n 3.15 0 seen
theta θ_{j,k} 4.4 0
guess γ 4.4 1.3
""",
        "pi>phi phi>z phi>truth w>truth z>y theta>y guess>y",
        (
            Plate("label n", "z y"),
            Plate("item i", "phi truth z y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta"),
        ),
        "Readings: readers divide over the classes of an item; each label and the truth is drawn "
        f"from its readings; {LABELS}.",
    ),
    "stack": Picture(
        """
truth t_i 1 0 out
p P_i 2.4 0.5 seen
v E_i,V_i 2.4 -0.5 seen
r ρ 3.7 0.5 seen
easy η,a 3.7 -0.5
s s,u,β 0 0
gold t_i^{known} 1 1.1 seen
""",
        "p>truth v>truth r>p r>v easy>v s>truth truth>gold",
        (Plate("item i", "truth p v gold"),),
        "Stack: the truth of an item follows a mixture of a model and the votes, in which items "
        "are easy or hard; the correlation of errors weights the two, and known truth shows how "
        "confident the mixture may be.",
    ),
    "spammers": Picture(
        """
pi π 0 0
c c_i 1 0 out
y y_n 2.15 0 seen
theta θ_{j,k} 3.4 -0.5
habit ξ_j 3.4 0.5
kind h_j 4.5 0.5 out
share η 5.6 0.5
""",
        "pi>c c>y theta>y habit>y kind>habit share>kind",
        (
            Plate("label n", "y"),
            Plate("item i", "c y"),
            Plate("class k", "theta"),
            Plate("coder j", "theta habit kind"),
        ),
        "Spammers: a coder is honest, with a confusion matrix, or a spammer, with a habit; "
        f"{LABELS}.",
    ),
    "ordinal": Picture(
        ITEM + "b b_j 3.4 -0.45\ns s_j 3.4 0.45\nu u_l 2.15 1.75\n",
        "pi>c c>y b>y s>y u>y",
        (*ITEM_PLATES, Plate("coder j", "b s"), Plate("label l", "u")),
        "Ordinal: the place of an item's class on a scale, shifted and blurred by the coder, is "
        f"cut into labels; {LABELS}.",
    ),
    "graded-response": Picture(
        """
pi π 0 1.2
u u_l 1.05 1.2
x x_i 1.05 0 out
y y_n 2.15 0 seen
b b_j 3.4 -0.45
s s_j 3.4 0.45
""",
        "pi>u u>y x>y b>y s>y",
        (
            Plate("label n", "y"),
            Plate("item i", "x y"),
            Plate("coder j", "b s"),
        ),
        "Graded response: the place of an item on a scale, shifted and blurred by the coder, is "
        f"cut into labels at cut-points that follow from the prevalence; {LABELS}.",
    ),
    "interval": Picture(
        """
mu μ,τ 0 0
x x_i 1 0
delta δ_i 1 0.95 out
y y_n 2.15 0 seen
b b_j 3.4 -0.9
s s_j 3.4 0
sigma σ_j 3.4 0.9
""",
        "mu>x x>y delta>y b>y s>y sigma>y",
        (
            Plate("label n", "y"),
            Plate("item i", "x delta y"),
            Plate("coder j", "b s sigma"),
        ),
        "Interval: the true number of an item, with the bias, scale and noise of a coder and the "
        f"difficulty of the item, leads to the labels; {LABELS}.",
    ),
}
