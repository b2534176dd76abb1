import { archiveLimits, readArchive } from "@hamlet/sandbox"
import type { PackageTypes } from "./resolved-packages.ts"
import { resolverLimits } from "./resolver-limits.ts"

/** Reads the archive of a bundle's types. */
export async function readTypes(compressed: Uint8Array): Promise<PackageTypes> {
  const bytesMax = resolverLimits.typeBytesTotalMax + archiveLimits.listBytesMax
  const { list, contents } = await readArchive(compressed, bytesMax)
  const decoder = new TextDecoder()
  return {
    files: list.files.map(([path], index) => ({ path, text: decoder.decode(contents[index]) })),
    links: list.links.map(([path, target]) => ({ path, target })),
  }
}
