"""The fading extension of the paper (H. Yang et al., end of section V).

One known complex gain per client and round, undone at the transmitter:

    z_i = beta alpha_i Delta_i / (tau_i h_i),   ||z_i||^2 <= P_i
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from links.faded import Correction, check_fading_options, precode, takes_reports
from links.flat import BANDWIDTH, FlatMedium, channel_uses
from links.radio import DEFAULT_SNR_DB, BaseLink, Participants, check_radio_options, noise_of
from links.uplink import Uplink
from otafl._base.added import added
from otafl._base.arrays import FloatArray
from otafl._base.names import options
from otafl._base.validation import Scalars, assign, number
from phy.channel import Channel, draw_channel, mean_power
from phy.csi import Csi, PerfectCsi
from phy.fading import Fading, Rayleigh
from phy.grid import OfdmGrid


@options
@dataclass(frozen=True, kw_only=True)
class FadingLink(BaseLink):
    """One complex gain per client and round: the response at the centre frequency.

    Parameters
    ----------
    snr_db : float or None
        Block SNR, reference_power / sigma_c^2 [dB]; inf for no noise. 10 dB unless
        ``entry_snr_db`` is given.
    entry_snr_db : float or None
        SNR of a single entry, reference_power / (d sigma_c^2) [dB], instead of ``snr_db``.
    power : float or sequence of float
        Limit on the energy of a round: a scalar, or one value per client by global index. From
        1e-12 to 1e12.
    path_gain : float or sequence of float
        Mean power of the channel: a scalar, or one value per client by global index. From 1e-12 to
        1e6.
    reference_power : float
        The power that the SNR refers to.
    fading : Fading
        Channel model. Default: ``Rayleigh()``.
    csi : Csi
        What clients know of their channels. Default: ``PerfectCsi()``.
    truncation : float
        Under inversion, a client is silent where its estimate of |h|^2, without path gain, does not
        exceed this threshold.
    correction : {"none", "expected", "active"}
        How the server compensates for silent clients. "none" leaves their part out, which for a
        link that carries models acts as weight decay. "expected" divides by the probability
        of being active; with CSI of error variance v the factor 1 / (1 + v) remains. "active"
        divides by the weight of the active clients, and returns 0 where no client is active: a
        ratio estimator, biased when weights and data differ between clients.
    control : {"inversion", "mmse"}
        Channel inversion, or MMSE power control, which accepts misalignment on weak channels in
        return for less noise and does not truncate; optimal for symbols whose largest variance
        over the clients is 1 after the gain (see :mod:`phy.power`).
    variances : {"equal", "reported"}
        What MMSE control knows of the variances of the clients' symbols. "equal" (default): they
        are the same. "reported": each client reports the norm of its signal, one number, and the
        variances are proportional to the squared norms. A client with a small signal may then
        amplify it more, and its misalignment counts less.
    bandwidth : float
        Complex channel uses per second, each of two entries; for the airtime only [Hz].
    """

    snr_db: float | None = DEFAULT_SNR_DB
    entry_snr_db: float | None = None
    power: Scalars = 1.0
    path_gain: Scalars = 1.0
    reference_power: float = 1.0
    fading: Fading = field(default_factory=Rayleigh)
    csi: Csi = field(default_factory=PerfectCsi)
    truncation: float = 0.0
    correction: str = "none"
    control: str = "inversion"
    variances: str = added("0.3", default="equal", earlier="equal")
    bandwidth: float = BANDWIDTH

    def __post_init__(self) -> None:
        check_radio_options(self)
        check_fading_options(self)
        assign(self, bandwidth=number("bandwidth", self.bandwidth, above=0))

    @property
    def channel_grid(self) -> OfdmGrid:
        """The one carrier that pilots and fading see."""
        return OfdmGrid(
            fft_size=1,
            cp_length=0,
            guards=(0, 0),
            dc_null=False,
            subcarrier_spacing=self.bandwidth,
            # a slot as long as the default grid's, in whose middle a moving channel is taken
            symbols_per_slot=max(1, round(OfdmGrid().slot_duration * self.bandwidth)),
        )

    def _open(self, who: Participants) -> Uplink:
        grid = self.channel_grid
        channel = draw_channel(
            grid,
            self.fading,
            self.csi,
            path_gain=who.per_client("path_gain", self.path_gain),
            num_symbols=grid.symbols_per_slot,
            **who.drawing,
        )
        return self._over(who, channel)

    def _over(self, who: Participants, channel: Channel) -> Uplink:
        """Return the uplink over channels that have been drawn."""
        grid, noise = self.channel_grid, noise_of(self, who.length)
        path_gain = who.per_client("path_gain", self.path_gain)
        budget = who.per_client("power", self.power)[:, None]

        def medium_for(variances: FloatArray | None = None) -> FlatMedium:
            precoding = precode(self, who, channel, path_gain, noise, variances)
            return FlatMedium(
                cost=precoding.cost[:, 0, 0],
                arrival=precoding.arrival[:, 0, 0],
                active=precoding.active[:, 0, 0],
                scale=float(precoding.scale[0, 0]),
                noise=noise,
                rng=who.rng,
                report=channel_uses(who.length, self.bandwidth, self.csi.pilots_per_slot),
                correction=Correction.of(self, grid, path_gain),
                channel=channel,
            )

        return Uplink(
            who.clients,
            who.length,
            budget,
            medium_for(),
            medium_for=medium_for if takes_reports(self) else None,
            moving=self.fading.continuous,
            quality=partial(mean_power, channel.estimate, path_gain),
            only=lambda places: self._over(who.only(places), channel.only(places)),
        )
