import { setImmediate } from "node:timers/promises"

/** Hashed in one go: about 3 ms. The largest bundle with its files takes 25 times as long. */
const stepBytes = 4 * 1024 ** 2

/**
 * The name of a bundle. With files or types, it is the hash of all hashes: otherwise a bundle whose
 * code ends like the start of the files of another one could have the same hash. Other work goes on
 * between the steps.
 */
export async function hashBundle(
  code: Uint8Array,
  files: Uint8Array | null | undefined,
  types?: Uint8Array | null,
): Promise<string> {
  const ofCode = await hash(code)
  if (!files && !types) return ofCode.digest("hex")
  const all = start().update(ofCode.digest())
  // Types without files are not the same as files without types.
  if (files) all.update((await hash(files)).digest())
  else all.update(new Uint8Array(all.byteLength))
  if (types) all.update((await hash(types)).digest())
  return all.digest("hex")
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
