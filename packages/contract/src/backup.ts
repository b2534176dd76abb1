import { createHash, type Hash } from "node:crypto"

/**
 * The outer format of a backup, so that a program that stores one can verify it without reading its
 * data:
 *
 * ```
 *   mark │ frame: header │ frame: data … │ frame: trailer │ sha-256 of everything before
 *          each frame: 16 bytes of head, then its content
 * ```
 * Header and trailer are JSON; the data between them is compressed, and private to the server.
 */
export const backupMark = "hamlet-backup/1\n"

/** The media type of a backup. */
export const backupType = "application/vnd.hamlet.backup"

/** Limits of a backup, which may be hostile. */
export const backupLimits = {
  /** Size of a frame, compressed or not. */
  frameBytesMax: 67_108_864,
  /** Size of the header and of the trailer. */
  jsonBytesMax: 4_194_304,
  sectionsMax: 200,
}

/** The kinds of frames. */
export const frameKinds = { header: 1, data: 2, trailer: 3 } as const

/** The sizes of a frame's head and of the hash at the end, in bytes. */
export const backupSizes = { head: 16, hash: 32 }

/** The head of a frame, before its content. */
export interface FrameHead {
  readonly kind: number
  /** The number of the section that the data belongs to. */
  readonly section: number
  /** Progress in this frame: rows, or units of content. */
  readonly items: number
  readonly storedBytes: number
  readonly rawBytes: number
}

/** The header of a backup. */
export interface BackupHeader {
  readonly format: 1
  readonly schemaVersion: number
  readonly serverVersion: string
  readonly createdAt: string
  /** The expected number of items. */
  readonly items: number
  readonly sections: readonly {
    readonly name: string
    readonly items: number
    readonly columns?: readonly string[] | undefined
  }[]
  /** When each migration was applied. */
  readonly migrations: readonly { readonly version: number; readonly appliedAt: number }[]
}

/** The trailer of a backup: what it really contains. */
export interface BackupTrailer {
  readonly items: number
  readonly sections: readonly BackupSection[]
  /** Objects of blobs that are missing in the storage. */
  readonly missing: readonly string[]
  /** Names of users whose database could not be read and is not included. */
  readonly damaged: readonly string[]
}

/** A section as written. The hash covers its frames with their heads. */
export interface BackupSection {
  readonly name: string
  readonly items: number
  readonly frames: number
  readonly bytes: number
  readonly sha256: string
}

/** A complete backup. */
export interface BackupSummary {
  readonly header: BackupHeader
  readonly trailer: BackupTrailer
  readonly bytes: number
}

/** The bytes are not a complete backup. The message continues a sentence about the file: "it …". */
export class BackupDamaged extends Error {
  override readonly name = "BackupDamaged"
}

/** Encodes the head of a frame. */
export function toHeadBytes({
  kind,
  section,
  items,
  storedBytes,
  rawBytes,
}: FrameHead): Uint8Array {
  const view = new DataView(new ArrayBuffer(backupSizes.head))
  view.setUint8(0, kind)
  view.setUint8(1, section)
  view.setUint32(4, items, true)
  view.setUint32(8, storedBytes, true)
  view.setUint32(12, rawBytes, true)
  return new Uint8Array(view.buffer)
}

/** Decodes the head of a frame, and checks its limits. */
export function parseHead(bytes: Uint8Array): FrameHead {
  const view = new DataView(bytes.buffer, bytes.byteOffset, backupSizes.head)
  const [kind, section] = [view.getUint8(0), view.getUint8(1)]
  const [items, storedBytes, rawBytes] = [
    view.getUint32(4, true),
    view.getUint32(8, true),
    view.getUint32(12, true),
  ]
  const isKnown = kind >= frameKinds.header && kind <= frameKinds.trailer && view.getUint16(2) === 0
  const bytesMax = kind === frameKinds.data ? backupLimits.frameBytesMax : backupLimits.jsonBytesMax
  if (!isKnown || storedBytes > bytesMax || rawBytes > bytesMax)
    throw new BackupDamaged("it contains an invalid frame")
  return { kind, section, items, storedBytes, rawBytes }
}

/** Checks a backup from its first byte to its last. */
export interface BackupChecker {
  /** Takes the next bytes, in chunks of any length. Throws as soon as something is wrong. */
  add(chunk: Uint8Array): void
  /** Undefined until it has arrived. */
  readonly header: BackupHeader | undefined
  /** The number of items so far; the header estimates the total. */
  readonly items: number
  readonly bytes: number
  /** Call after the last byte. Throws if something is missing. */
  end(): BackupSummary
}

/** Creates a checker for a backup that is received or read back. */
export function createBackupChecker(): BackupChecker {
  return new Checker()
}

interface SectionState {
  readonly hash: Hash
  items: number
  frames: number
  bytes: number
}

/**
 * The next part: a few bytes that are collected, or the content of a frame, which is only hashed.
 */
type Expectation =
  | { readonly part: "mark" | "head" | "json" | "hash" | "nothing"; readonly bytes: number }
  | { part: "data"; bytes: number }

class Checker implements BackupChecker {
  header: BackupHeader | undefined
  items = 0
  bytes = 0
  #trailer: BackupTrailer | undefined
  readonly #whole = createHash("sha256")
  readonly #sections = new Map<number, SectionState>()
  #expected: Expectation = { part: "mark", bytes: backupMark.length }
  #head: FrameHead | undefined
  #part: Uint8Array[] = []
  #partBytes = 0

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length
    for (let at = 0; at < chunk.length; ) {
      if (this.#expected.part === "nothing") throw new BackupDamaged("it continues after its end")
      const piece = chunk.subarray(at, at + this.#expected.bytes - this.#partBytes)
      at += piece.length
      this.#take(piece)
    }
  }

  end(): BackupSummary {
    if (this.#expected.part !== "nothing" || !this.header || !this.#trailer)
      throw new BackupDamaged("it is incomplete")
    return { header: this.header, trailer: this.#trailer, bytes: this.bytes }
  }

  #take(piece: Uint8Array): void {
    const { part, bytes } = this.#expected
    if (part === "data") this.#sectionOf(this.#head?.section ?? 0).hash.update(piece)
    // A copy: the reader may reuse its buffer.
    else this.#part.push(new Uint8Array(piece))
    if (part !== "hash") this.#whole.update(piece)
    this.#partBytes += piece.length
    if (this.#partBytes < bytes) return
    const whole =
      this.#part.length === 1
        ? (this.#part[0] ?? new Uint8Array())
        : concat(this.#part, part === "data" ? 0 : bytes)
    this.#part = []
    this.#partBytes = 0
    this.#expected = this.#follow(part, whole)
    // An empty frame is complete at once.
    if (this.#expected.bytes === 0 && this.#expected.part !== "nothing")
      this.#take(new Uint8Array())
  }

  #follow(part: Expectation["part"], whole: Uint8Array): Expectation {
    if (part === "head") return this.#followHead(whole)
    if (part === "json") return this.#followJson(whole)
    if (part === "mark" && new TextDecoder().decode(whole) !== backupMark)
      throw new BackupDamaged("it is not a backup of Hamlet")
    if (part !== "hash") return { part: "head", bytes: backupSizes.head }
    if (!isEqual(whole, this.#whole.digest()))
      throw new BackupDamaged("it was changed after it was written: its hash does not match")
    return { part: "nothing", bytes: 0 }
  }

  #followHead(bytes: Uint8Array): Expectation {
    const head = parseHead(bytes)
    if ((head.kind === frameKinds.header) !== (this.header === undefined))
      throw new BackupDamaged("its frames are out of order")
    this.#head = head
    if (head.kind !== frameKinds.data) return { part: "json", bytes: head.storedBytes }
    if (head.section >= (this.header?.sections.length ?? 0))
      throw new BackupDamaged("it contains an invalid frame")
    const section = this.#sectionOf(head.section)
    section.hash.update(bytes)
    section.items += head.items
    section.frames += 1
    section.bytes += bytes.length + head.storedBytes
    this.items += head.items
    return { part: "data", bytes: head.storedBytes }
  }

  #followJson(bytes: Uint8Array): Expectation {
    if (this.#head?.kind === frameKinds.header) {
      this.header = parseHeader(bytes)
      return { part: "head", bytes: backupSizes.head }
    }
    this.#trailer = parseTrailer(bytes)
    this.#assertTrailer(this.#trailer, this.header)
    return { part: "hash", bytes: backupSizes.hash }
  }

  #assertTrailer(trailer: BackupTrailer, header: BackupHeader | undefined): void {
    const isSame = trailer.sections.every((declared, index) => {
      const { hash, items, frames, bytes } = this.#sectionOf(index)
      const isCounted =
        declared.items === items && declared.frames === frames && declared.bytes === bytes
      return (
        declared.name === header?.sections[index]?.name &&
        isCounted &&
        declared.sha256 === hash.digest("hex")
      )
    })
    if (
      !isSame ||
      trailer.sections.length !== header?.sections.length ||
      trailer.items !== this.items
    )
      throw new BackupDamaged("its content does not match its trailer")
  }

  #sectionOf(index: number): SectionState {
    const section = this.#sections.get(index) ?? {
      hash: createHash("sha256"),
      items: 0,
      frames: 0,
      bytes: 0,
    }
    this.#sections.set(index, section)
    return section
  }
}

function concat(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}

function parseHeader(bytes: Uint8Array): BackupHeader {
  const { format, schemaVersion, serverVersion, createdAt, items, sections, migrations } =
    parseObject(bytes)
  if (format !== 1)
    throw new BackupDamaged(
      `it has format ${String(format)}, and this version of Hamlet supports format 1`,
    )
  const isSound =
    isCount(schemaVersion) &&
    typeof serverVersion === "string" &&
    typeof createdAt === "string" &&
    isCount(items) &&
    isList(migrations)
  if (!isSound || !isList(sections) || sections.length > backupLimits.sectionsMax)
    throw new BackupDamaged("its header is not valid")
  const areSound =
    sections.every(
      ({ name, items, columns }) =>
        typeof name === "string" && isCount(items) && (columns === undefined || isTexts(columns)),
    ) && migrations.every(({ version, appliedAt }) => isCount(version) && isCount(appliedAt))
  if (!areSound) throw new BackupDamaged("its header is not valid")
  return {
    format,
    schemaVersion,
    serverVersion,
    createdAt,
    items,
    sections,
    migrations,
  } as unknown as BackupHeader
}

function parseTrailer(bytes: Uint8Array): BackupTrailer {
  // Older servers did not write `damaged`.
  const { items, sections, missing, damaged = [] } = parseObject(bytes)
  const isSound =
    isCount(items) &&
    isTexts(missing) &&
    isTexts(damaged) &&
    isList(sections) &&
    sections.every(
      ({ name, items, frames, bytes, sha256 }) =>
        typeof name === "string" &&
        typeof sha256 === "string" &&
        isCount(items) &&
        isCount(frames) &&
        isCount(bytes),
    )
  if (!isSound) throw new BackupDamaged("its trailer is not valid")
  return { items, sections, missing, damaged } as unknown as BackupTrailer
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new BackupDamaged("it contains invalid JSON")
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
}

function isList(value: unknown): value is readonly Record<string, unknown>[] {
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}
