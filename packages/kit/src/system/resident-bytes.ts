/**
 * The memory of this process that is in RAM. Undefined where it cannot be read: the kernel tells it in
 * a file, which needs a free descriptor.
 */
export function readResidentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}
