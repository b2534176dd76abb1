/** The filter that bubblewrap installs, compiled; undefined on machines whose system calls we have no table of. */
export function createSystemCallFilter(): Uint8Array | undefined {
  return undefined
}
