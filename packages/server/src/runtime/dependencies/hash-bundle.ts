import { setImmediate } from "node:timers/promises"

/** Hashed in one go: about 3 ms. The largest bundle with its files takes 25 times as long. */
const stepBytes = 4 * 1024 ** 2

/**
 * The name of a bundle. With files, it is the hash of both hashes: otherwise a bundle whose code
 * ends like the start of the files of another one could have the same hash. Other work goes on
 * between the steps.
 */
export async function hashBundle(
  code: Uint8Array,
  files: Uint8Array | null | undefined,
): Promise<string> {
  const ofCode = await hash(code)
  if (!files) return ofCode.digest("hex")
  const ofFiles = await hash(files)
  return start().update(ofCode.digest()).update(ofFiles.digest()).digest("hex")
}

async function hash(bytes: Uint8Array): Promise<Bun.CryptoHasher> {
  const hasher = start()
  for (let from = 0; from < bytes.length; from += stepBytes) {
    if (from > 0) await setImmediate()
    hasher.update(bytes.subarray(from, from + stepBytes))
  }
  return hasher
}

function start(): Bun.CryptoHasher {
  return new Bun.CryptoHasher("sha256")
}
