import type { Env } from "./options.ts"
import { type ReadSetting, readChoice, readInteger, refuse } from "./readers.ts"

/** The settings of blobs and owner databases. */
export interface StorageConfig {
  /** All blobs of one user. */
  readonly blobsBytesMax: number
  readonly blobBytesMax: number
  /** The database of one user. */
  readonly sqliteBytesMax: number
  readonly sqliteMsMax: number
  /** All nodes share the files in the data folder. */
  readonly isDataDirShared: boolean
  readonly s3: S3Config | undefined
}

/** A bucket for blobs. */
export interface S3Config {
  readonly bucket: string
  readonly endpoint: string | undefined
  readonly region: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const mega = 1024 ** 2

/** Reads the settings of blobs and owner databases. */
export function loadStorageConfig(read: ReadSetting): StorageConfig {
  const integer = (name: Env, standard: number, max: number) =>
    readInteger(name, read(name), 1, max) ?? standard
  return {
    blobsBytesMax: integer("HAMLET_BLOBS_MB_MAX", 1024, 1_000_000_000) * mega,
    blobBytesMax: integer("HAMLET_BLOB_BYTES_MAX", 100 * mega, Number.MAX_SAFE_INTEGER),
    sqliteBytesMax: integer("HAMLET_SQLITE_MB_MAX", 256, 1_000_000) * mega,
    sqliteMsMax: integer("HAMLET_SQLITE_SECONDS_MAX", 5, 3600) * 1000,
    isDataDirShared:
      readChoice("HAMLET_DATA_DIR_SHARED", read("HAMLET_DATA_DIR_SHARED"), ["no", "yes"]) === "yes",
    s3: readS3(read("HAMLET_S3_URL")),
  }
}

/** The address contains a key: the message does not repeat it. */
function readS3(text: string): S3Config | undefined {
  if (text === "") return undefined
  const url = URL.parse(text)
  const endpoint = url?.searchParams.get("endpoint") ?? undefined
  const isProper =
    url?.protocol === "s3:" && url.hostname !== "" && url.username !== "" && url.password !== ""
  if (
    !url ||
    !isProper ||
    (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
  )
    refuse(
      "HAMLET_S3_URL",
      "…",
      "it must be s3://KEY:SECRET@BUCKET, with ?endpoint=ADDRESS&region=REGION if need be",
    )
  return {
    bucket: url.hostname,
    endpoint,
    region: url.searchParams.get("region") ?? undefined,
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  }
}
