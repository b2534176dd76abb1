import { randomBytes } from "node:crypto"
import { compose } from "../compose.ts"
import { type Environment, loadConfig } from "../config/config.ts"
import { operator, toAuditEntry } from "../domain/accounts/audit.ts"
import { keyBytes, keyCheckName, sealKeyCheck } from "../domain/secrets/cipher.ts"
import { loadKeyFile, writeKeyFile } from "../storage/accounts/key-file.ts"
import { assertKeys } from "./assert-keys.ts"

/**
 * `rotate-secret-key`: creates a new key and encrypts every secret with it. The server may run
 * meanwhile: it uses the new key as soon as the file has it.
 */
export async function rotateSecretKey(flags: readonly string[], env: Environment): Promise<void> {
  const config = loadConfig(env, flags)
  const hamlet = await compose(config)
  try {
    await assertKeys(hamlet)
    const { cipher } = hamlet.parts
    const { secrets, valSecrets, webhooks, audit, clock } = hamlet.nouns
    const keys = config.secretKeys
      ? undefined
      : [randomBytes(keyBytes), ...loadKeyFile(config.dataDir)]
    if (keys) writeKeyFile(config.dataDir, keys)
    const count = (await secrets.reseal()) + (await valSecrets.reseal()) + (await webhooks.reseal())
    await audit.add(
      toAuditEntry(clock, operator, "key.rotate", undefined, {
        keyId: cipher.keyId,
        secrets: count,
      }),
    )
    await hamlet.settings.set(keyCheckName, sealKeyCheck(cipher))
    // A secret saved during the rotation may use the previous key, and none uses an older one.
    if (keys) writeKeyFile(config.dataDir, keys.slice(0, 2))
    process.stdout.write(`Encrypted ${count} secrets with key ${cipher.keyId}\n`)
  } finally {
    await hamlet.stop()
  }
}
