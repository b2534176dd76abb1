/**
 * The name of a bundle. With files or types, it is the hash of all hashes: otherwise a bundle whose
 * code ends like the start of the files of another one could have the same hash.
 */
export async function hashBundle(
  code: Uint8Array,
  files: Uint8Array | null | undefined,
  types?: Uint8Array | null,
): Promise<string> {
  const ofCode = await hash(code)
  if (!files && !types) return ofCode.toString("hex")
  // Types without files are not the same as files without types.
  const ofFiles = files ? await hash(files) : Buffer.alloc(ofCode.length)
  const ofTypes = types ? await hash(types) : Buffer.alloc(0)
  return (await hash(Buffer.concat([ofCode, ofFiles, ofTypes]))).toString("hex")
}

/** On another thread: a bundle may be large. */
async function hash(bytes: Uint8Array): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>))
}
