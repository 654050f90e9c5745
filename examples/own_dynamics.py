"""A right-hand side of your own in a fractional equation, and its order found from data by gradient descent.

Nodes of a ring copy their neighbours and saturate: D^α y = rate · (tanh(Ā y) - y). python examples/own_dynamics.py
"""

import torch
from torch import Tensor

from fdmvgcl.fractional import fdeint

TRUE_ORDER, TRUE_RATE, TIME, STEPS = 0.6, 0.8, 4.0, 20


def simulate(y0: Tensor, order: Tensor | float, rate: Tensor | float) -> Tensor:
    def right_hand_side(t: Tensor, y: Tensor) -> Tensor:
        return rate * (torch.tanh((y.roll(1) + y.roll(-1)) / 2) - y)

    _, states = fdeint(right_hand_side, y0, order, TIME, steps=STEPS, scheme="pece", trajectory=True)
    return states


def main() -> None:
    y0 = torch.randn(12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    seen = simulate(y0, TRUE_ORDER, TRUE_RATE)

    # Free numbers behind a sigmoid and an exponential, so that the order stays in (0, 1) and the rate positive.
    order_logit, log_rate = (torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(2))
    optimiser = torch.optim.Adam([order_logit, log_rate], lr=0.1)
    for epoch in range(41):
        order, rate = torch.sigmoid(order_logit), torch.exp(log_rate)
        loss = (simulate(y0, order, rate) - seen).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch:2}  loss {loss.item():.2e}  order {order.item():.3f}  rate {rate.item():.3f}")
    if abs(order.item() - TRUE_ORDER) > 0.02:
        raise SystemExit("the order was not found")


if __name__ == "__main__":
    main()
