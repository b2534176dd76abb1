import type { Backoff } from "@hamlet/kit"

/** Retries of a webhook for a day: after 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, then every 3 hours. */
export const webhookBackoff = {
  firstMs: 5_000,
  factor: 4,
  delayMsMax: 10_800_000,
  forMs: 86_400_000,
} satisfies Backoff
