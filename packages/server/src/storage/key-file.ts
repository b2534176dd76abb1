import { randomBytes } from "node:crypto"
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs"
import { join } from "node:path"
import { keyBytes } from "../domain/cipher.ts"

const fileName = "secret.key"
const onlyOwner = 0o600

/** The keys in the data folder, newest first; at the first start one is made. */
export function loadKeyFile(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, fileName)
  if (!existsSync(path)) writeKeyFile(dataDir, [randomBytes(keyBytes)])
  const keys = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Buffer.from(line, "base64"))
  if (keys.length === 0 || keys.some((key) => key.length !== keyBytes)) throw new Error(`Cannot read the key file "${path}": each line must be ${keyBytes} bytes in base64`)
  return keys
}

/** Replaces the key file in one step: it is there whole, or as it was before. */
export function writeKeyFile(dataDir: string, keys: readonly Uint8Array[]): void {
  const path = join(dataDir, fileName)
  const file = openSync(`${path}.new`, "w", onlyOwner)
  try {
    chmodSync(`${path}.new`, onlyOwner)
    writeSync(file, keys.map((key) => `${Buffer.from(key).toString("base64")}\n`).join(""))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.new`, path)
}
