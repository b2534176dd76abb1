import { randomBytes } from "node:crypto"
import { compose } from "../compose.ts"
import { type Environment, loadConfig } from "../config/config.ts"
import { operator, toAuditEntry } from "../domain/accounts/audit.ts"
import { keyBytes } from "../domain/secrets/cipher.ts"
import { keyCheckName, sealKeyCheck } from "../domain/secrets/key-check.ts"
import { resealSecrets } from "../domain/secrets/secrets.ts"
import { resealValSecrets } from "../domain/secrets/val-secrets.ts"
import { resealWebhooks } from "../domain/webhooks/webhooks.ts"
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
    const { cipher } = hamlet.deps
    const keys = config.secretKeys
      ? undefined
      : [randomBytes(keyBytes), ...loadKeyFile(config.dataDir)]
    if (keys) writeKeyFile(config.dataDir, keys)
    const count =
      (await resealSecrets(hamlet.deps)) +
      (await resealValSecrets(hamlet.deps)) +
      (await resealWebhooks(hamlet.deps))
    await hamlet.deps.audit.add(
      toAuditEntry(hamlet.deps, operator, "key.rotate", undefined, {
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
