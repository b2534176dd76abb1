import { dlopen, type FFIFunction, type Library } from "bun:ffi"

/** The C library of most Linux systems (glibc), and that of Alpine (musl). */
const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]

/** Functions of the C library that Bun does not offer. Undefined outside of Linux. */
export function openCLibrary<Shapes extends Record<string, FFIFunction>>(
  shapes: Shapes,
): Library<Shapes>["symbols"] | undefined {
  for (const name of process.platform === "linux" ? names : []) {
    try {
      return dlopen(name, shapes).symbols
    } catch {
      // The next one may exist.
    }
  }
  return undefined
}
