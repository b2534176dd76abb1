import { createHash } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { zstdDecompressSync } from "node:zlib"
import {
  BackupDamaged,
  type BackupSummary,
  backupMark,
  backupSizes,
  createBackupChecker,
  frameKinds,
  parseHead,
} from "@hamlet/contract/backup"
import { fromPayload, type Payload } from "./payload.ts"

/** A data frame, decompressed. */
export interface Frame extends Payload {
  readonly section: number
  readonly items: number
}

/** Bytes read at a time. */
const pieceBytes = 1_048_576

/**
 * Reads the whole file, and throws unless all of its hashes are right.
 */
export async function checkFile(
  path: string,
  report: (bytes: number, total: number) => void,
): Promise<BackupSummary> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const checker = createBackupChecker()
    const piece = Buffer.allocUnsafe(pieceBytes)
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, pieceBytes, null)
      if (bytesRead === 0) break
      checker.add(piece.subarray(0, bytesRead))
      report(checker.bytes, size)
    }
    return checker.end()
  } finally {
    await file.close()
  }
}

/**
 * The data frames of a file that was checked. The file is hashed again, so that only what was
 * checked is restored.
 */
export async function* readFrames(path: string): AsyncGenerator<Frame, void> {
  const file = await open(path)
  const hash = createHash("sha256")
  const read = async (bytes: number) => {
    const buffer = await readExactly(file, bytes)
    hash.update(buffer)
    return buffer
  }
  try {
    await read(backupMark.length)
    for (;;) {
      const { kind, section, items, storedBytes, rawBytes } = parseHead(
        await read(backupSizes.head),
      )
      const stored = await read(storedBytes)
      if (kind === frameKinds.trailer) break
      if (kind === frameKinds.data)
        yield { section, items, ...fromPayload(decompress(stored, rawBytes)) }
    }
    const whole = hash.digest()
    if (!whole.equals(await readExactly(file, backupSizes.hash)))
      throw new BackupDamaged("it changed while it was read")
  } finally {
    await file.close()
  }
}

async function readExactly(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes)
  for (let filled = 0; filled < bytes; ) {
    const { bytesRead } = await file.read(buffer, filled, bytes - filled, null)
    if (bytesRead === 0) throw new BackupDamaged("it changed while it was read")
    filled += bytesRead
  }
  return buffer
}

/** Stops at the size that the frame declares. */
function decompress(stored: Buffer, rawBytes: number): Buffer {
  try {
    const raw = zstdDecompressSync(stored, { maxOutputLength: rawBytes })
    if (raw.length === rawBytes) return raw
  } catch {
    // Reported below.
  }
  throw new BackupDamaged("it contains a frame that cannot be decompressed")
}
