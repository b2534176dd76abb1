import { randomBytes, randomUUID } from "node:crypto"
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { AppError } from "../../domain/app-error.ts"
import { keyBytes } from "../../domain/secrets/cipher.ts"

const fileName = "secret.key"
const onlyOwner = 0o600

/** The keys in the data folder, newest first. Creates one at the first start. */
export function loadKeyFile(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, fileName)
  try {
    if (!existsSync(path)) createKeyFile(path)
  } catch (cause) {
    throw unreadable(path, cause)
  }
  return readKeyFile(dataDir)
}

/** Reads the keys without creating one: undefined where there is no file. */
export function findKeyFile(dataDir: string): readonly Uint8Array[] | undefined {
  return existsSync(join(dataDir, fileName)) ? readKeyFile(dataDir) : undefined
}

/**
 * Reads the keys for a running server, which never replaces a missing file by one with another key.
 */
export function readKeyFile(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, fileName)
  try {
    return parseKeys(readFileSync(path, "utf8"))
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : cause
  return new AppError("database_unavailable", `Cannot read the key file "${path}": ${reason}`, {
    cause,
  })
}

function parseKeys(text: string): readonly Uint8Array[] {
  const lines = text.split("\n").filter((line) => line !== "")
  const keys = lines.map((line) => Buffer.from(line, "base64"))
  if (keys.length > 0 && keys.every((key) => key.length === keyBytes)) return keys
  throw new Error(`each line must be ${keyBytes} bytes in base64`)
}

/** Replaces the key file atomically. */
export function writeKeyFile(dataDir: string, keys: readonly Uint8Array[]): void {
  const path = join(dataDir, fileName)
  renameSync(writeBeside(path, keys), path)
  syncFolder(dataDir)
}

/** If another server that starts at the same time was faster, its key is used. */
function createKeyFile(path: string): void {
  const beside = writeBeside(path, [randomBytes(keyBytes)])
  try {
    linkSync(beside, path)
  } catch {
    // Some file systems have no hard links: there, servers must be started one after the other.
    if (!existsSync(path)) renameSync(beside, path)
  }
  rmSync(beside, { force: true })
  syncFolder(dirname(path))
}

function writeBeside(path: string, keys: readonly Uint8Array[]): string {
  const beside = `${path}.${randomUUID()}`
  const file = openSync(beside, "w", onlyOwner)
  try {
    chmodSync(beside, onlyOwner)
    writeSync(file, keys.map((key) => `${Buffer.from(key).toString("base64")}\n`).join(""))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return beside
}

/**
 * After a power cut, encrypted data must not exist without its key: the folder entry of the file
 * must reach the disk too.
 */
function syncFolder(path: string): void {
  const folder = openSync(path, "r")
  try {
    fsyncSync(folder)
  } catch {
    // Some file systems cannot sync folders, and offer no alternative.
  } finally {
    closeSync(folder)
  }
}
