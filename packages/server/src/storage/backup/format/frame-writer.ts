import { createHash, type Hash } from "node:crypto"
import {
  type BackupHeader,
  type BackupSection,
  type BackupTrailer,
  backupLimits,
  backupMark,
  frameKinds,
  toHeadBytes,
} from "@hamlet/contract/backup"
import { AppError } from "../../../domain/app-error.ts"
import { toPayload } from "./payload.ts"

/** The fastest: better compression takes longer than reading the database. */
const compressionLevel = 1

/** Produces the bytes of a backup, in order, and collects the counts and hashes of the trailer. */
export class FrameWriter {
  readonly #header: BackupHeader
  readonly #whole = createHash("sha256")
  readonly #sections: {
    readonly name: string
    readonly hash: Hash
    items: number
    frames: number
    bytes: number
  }[]

  constructor(header: BackupHeader) {
    this.#header = header
    this.#sections = header.sections.map(({ name }) => ({
      name,
      hash: createHash("sha256"),
      items: 0,
      frames: 0,
      bytes: 0,
    }))
  }

  begin(): Uint8Array {
    return this.#hash([Buffer.from(backupMark), ...toJsonFrame(frameKinds.header, this.#header)])
  }

  /** A data frame of the section with that number. */
  data(index: number, items: number, json: unknown, bytes: readonly Uint8Array[]): Uint8Array {
    const section = this.#sections[index]
    if (!section) throw new Error(`Cannot write to section ${index}: there is no such section`)
    const raw = toPayload(json, bytes)
    const stored = Bun.zstdCompressSync(raw, { level: compressionLevel })
    if (Math.max(raw.length, stored.length) > backupLimits.frameBytesMax)
      throw new AppError(
        "internal",
        `Cannot back up ${section.name}: one row has more than ${backupLimits.frameBytesMax} bytes`,
      )
    const head = toHeadBytes({
      kind: frameKinds.data,
      section: index,
      items,
      storedBytes: stored.length,
      rawBytes: raw.length,
    })
    section.hash.update(head).update(stored)
    section.items += items
    section.frames += 1
    section.bytes += head.length + stored.length
    return this.#hash([head, stored])
  }

  end(losses: Pick<BackupTrailer, "missing" | "damaged">): Uint8Array {
    const sections: BackupSection[] = this.#sections.map(({ hash, ...section }) => ({
      ...section,
      sha256: hash.digest("hex"),
    }))
    const items = sections.reduce((sum, section) => sum + section.items, 0)
    const last = this.#hash(toJsonFrame(frameKinds.trailer, { items, sections, ...losses }))
    return Buffer.concat([last, this.#whole.digest()])
  }

  #hash(parts: readonly Uint8Array[]): Uint8Array {
    const bytes = Buffer.concat(parts)
    this.#whole.update(bytes)
    return bytes
  }
}

function toJsonFrame(kind: number, value: unknown): readonly Uint8Array[] {
  const json = Buffer.from(JSON.stringify(value))
  return [
    toHeadBytes({ kind, section: 0, items: 0, storedBytes: json.length, rawBytes: json.length }),
    json,
  ]
}
