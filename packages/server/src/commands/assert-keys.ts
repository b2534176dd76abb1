import type { Hamlet } from "../compose.ts"
import { ConfigError } from "../config/config.ts"
import { findMissingKey, keyCheckName, sealKeyCheck } from "../domain/secrets/cipher.ts"

/**
 * Refuses keys that cannot decrypt the secrets in the database: every secret saved with them would
 * make the loss larger.
 */
export async function assertKeys(hamlet: Hamlet): Promise<void> {
  const { cipher } = hamlet.parts
  const missing = findMissingKey(
    cipher,
    await hamlet.settings.getOrSet(keyCheckName, sealKeyCheck(cipher)),
  )
  if (missing !== undefined)
    throw new ConfigError(
      `Cannot start: the secrets in this database are encrypted with key ${missing}, which is neither in HAMLET_SECRET_KEY nor in the data folder`,
    )
}
