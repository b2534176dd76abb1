import { insideMaps, stackMap } from "./bubblewrap-command.ts"

/** The cores that a val sees. packages/guest/src/globals/machine.ts has the same number. */
const cores = [0, 1]

/**
 * Files of the system that a guest sees: the same on every machine. node:os reads them when a val
 * asks for its user and its cores.
 */
export const systemFiles: Readonly<Record<string, string>> = {
  [insideMaps]: stackMap,
  "/etc/passwd": "val:x:1000:1000:val:/tmp:/bin/sh\n",
  "/proc/cpuinfo": cores.map((core) => `processor\t: ${core}\nmodel name\t: val\n\n`).join(""),
  "/proc/stat": ["", ...cores].map((core) => `cpu${core} 0 0 0 0 0 0 0 0 0 0\n`).join(""),
}
