import { integer, text, toggle } from "./setting.ts"

const mega = 1024 ** 2

/** Blobs and owner databases. */
export const storageSettings = {
  blobsBytesMax: integer({
    env: "HAMLET_BLOBS_MB_MAX",
    default: 1024,
    max: 1_000_000_000,
    unit: mega,
    meaning: "Size of all blobs of one user, with those of the user's vals.",
  }),
  blobBytesMax: integer({
    env: "HAMLET_BLOB_BYTES_MAX",
    default: 100 * mega,
    max: Number.MAX_SAFE_INTEGER,
    meaning: "Size of one blob, in bytes.",
  }),
  s3: text({
    env: "HAMLET_S3_URL",
    accept: toBucket,
    reason: "it must be s3://KEY:SECRET@BUCKET, with ?endpoint=ADDRESS&region=REGION if need be",
    isSecret: true,
    meaning:
      "Bucket for large blobs: `s3://KEY:SECRET@BUCKET`, with `?endpoint=ADDRESS&region=REGION` if it is not on AWS. Empty: large blobs are stored in the database.",
  }),
  sqliteBytesMax: integer({
    env: "HAMLET_SQLITE_MB_MAX",
    default: 256,
    max: 1_000_000,
    unit: mega,
    meaning: "Size of all SQLite databases of one user: the user's own, and those of vals.",
  }),
  sqliteMsMax: integer({
    env: "HAMLET_SQLITE_SECONDS_MAX",
    default: 5,
    max: 3600,
    unit: 1000,
    meaning: "Time limit of the statements of one request to such a database.",
  }),
  isDataDirShared: toggle({
    env: "HAMLET_DATA_DIR_SHARED",
    meaning:
      "`yes` if all nodes share the files in the data folder. With PostgreSQL, users have SQLite databases only then, or with HAMLET_LIBSQL_URL.",
  }),
}

function toBucket(value: string) {
  const url = URL.parse(value)
  const endpoint = url?.searchParams.get("endpoint") ?? undefined
  if (url?.protocol !== "s3:" || !url.hostname || !url.username || !url.password) return undefined
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    return undefined
  const accessKeyId = decode(url.username)
  const secretAccessKey = decode(url.password)
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined
  const region = url.searchParams.get("region") ?? undefined
  return { bucket: url.hostname, endpoint, region, accessKeyId, secretAccessKey }
}

/** Undefined for a "%" that is no escape. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
