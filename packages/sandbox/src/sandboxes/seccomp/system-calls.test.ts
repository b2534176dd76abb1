import { dlopen } from "bun:ffi"
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import { findSystemCalls } from "./system-calls.ts"

/**
 * Where Debian puts the headers of its kernel: of the machine itself, and of others that it builds
 * for.
 */
const machines = [
  { architecture: "x64", triplet: "x86_64-linux-gnu", files: ["asm/unistd_64.h"] },
  {
    architecture: "arm64",
    triplet: "aarch64-linux-gnu",
    files: ["asm/unistd_64.h", "../asm-generic/unistd.h"],
  },
] as const

for (const { architecture, triplet, files } of machines) {
  const folders = [`/usr/include/${triplet}`, `/usr/${triplet}/include`]
  const header = folders
    .filter(existsSync)
    .flatMap((folder) => files.map((file) => join(folder, file)))
    .find(existsSync)
  // Few machines have the headers of another architecture. libseccomp below knows both.
  if (header === undefined && architecture === process.arch)
    notRun(
      `the table of system calls of ${architecture} against the kernel's headers`,
      "needs linux-libc-dev",
    )

  test.if(header !== undefined)(
    `systemCallTables has the numbers of the kernel's headers for ${architecture}`,
    () => {
      const known = readHeader(readFileSync(header ?? "", "utf8"))
      const newest = Math.max(...known.values())
      const wrong = listCalls(architecture).filter(([name, number]) => {
        const said = known.get(name)
        // Headers of an older kernel do not have newer calls, which have higher numbers.
        return said === undefined ? number <= newest : said !== number
      })
      expect(known.size).toBeGreaterThan(250)
      expect(wrong).toEqual([])
    },
  )
}

const seccompLibrary = openSeccompLibrary()
if (!seccompLibrary)
  notRun("the tables of system calls against libseccomp", "needs libseccomp.so.2")

describe.if(seccompLibrary !== undefined)("systemCallTables", () => {
  test.each(["x64", "arm64"] as const)(
    "has the same numbers as libseccomp for %s",
    (architecture) => {
      const token = findSystemCalls(architecture, "deno")?.architecture ?? 0
      const said = listCalls(architecture).map(([name, number]) => ({
        name,
        number,
        said: seccompLibrary?.findNumber(token, name),
      }))
      expect(said.filter((call) => call.said !== undefined).length).toBeGreaterThan(170)
      expect(said.filter((call) => call.said !== undefined && call.said !== call.number)).toEqual(
        [],
      )
    },
  )

  test.each(["x64", "arm64"] as const)("leaves out dangerous calls on %s", (architecture) => {
    const dangerous = [
      "ptrace",
      "process_vm_readv",
      "process_vm_writev",
      "process_madvise",
      "pidfd_getfd",
      "unshare",
      "setns",
      "mount",
      "umount2",
      "move_mount",
      "pivot_root",
      "chroot",
      "bpf",
      "io_uring_setup",
      "perf_event_open",
      "userfaultfd",
      "modify_ldt",
      "add_key",
      "request_key",
      "keyctl",
      "kexec_load",
      "init_module",
      "finit_module",
      "clone3",
      "clock_settime",
      "sethostname",
      "open_by_handle_at",
      "vmsplice",
      "splice",
    ]
    for (const program of ["deno", "worker"] as const) {
      const { allowed } = findSystemCalls(architecture, program) ?? { allowed: {} }
      expect(dangerous.filter((name) => name in allowed)).toEqual([])
    }
  })
})

/** All numbers of a table, by the names of the kernel. */
function listCalls(architecture: "x64" | "arm64"): [name: string, number: number][] {
  const table = findSystemCalls(architecture, "deno")
  if (!table) throw new Error(`there is no table of ${architecture}`)
  return Object.entries({ ...table.allowed, ...table.judged })
}

/**
 * The lines `#define __NR_name number`; those of asm-generic have another prefix for calls that
 * depend on the size of a word.
 */
function readHeader(text: string): Map<string, number> {
  const lines = text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$/gm)
  return new Map([...lines].map(([, name = "", number]) => [name, Number(number)]))
}

/** On Debian apt depends on it. It knows all architectures. */
function openSeccompLibrary() {
  try {
    const { symbols } = dlopen("libseccomp.so.2", {
      seccomp_syscall_resolve_name_arch: { args: ["u32", "cstring"], returns: "i32" },
    })
    return {
      /**
       * Undefined for what the library has not heard of, and for what the architecture does not
       * have.
       */
      findNumber(token: number, name: string): number | undefined {
        const number = symbols.seccomp_syscall_resolve_name_arch(token, Buffer.from(`${name}\0`))
        return number < 0 ? undefined : number
      },
    }
  } catch {
    return undefined
  }
}
