import { endianness } from "node:os"
import { type FilteredProgram, findSystemCalls, type SystemCallTable } from "./system-calls.ts"

/**
 * The seccomp filter that bubblewrap installs: a BPF program that the kernel runs before each
 * system call. It ends in "not implemented", so that calls of newer kernels are refused too, and
 * programs fall back to older ones. Undefined on architectures without a table.
 */
export function createSeccompFilter(
  program: FilteredProgram,
  architecture: NodeJS.Architecture = process.arch,
): Uint8Array | undefined {
  const table = findSystemCalls(architecture, program)
  if (!table || process.platform !== "linux" || endianness() !== "LE") return undefined
  return assemble(toInstructions(table, program === "deno"))
}

/** `struct sock_filter`. Jumps count from the next instruction. */
interface Instruction {
  readonly code: number
  readonly ifTrue?: number
  readonly ifFalse?: number
  readonly value: number
}

const instructionBytes = 8

/** Offsets in `struct seccomp_data`. `argumentAt` is the lower half of the first argument. */
const numberAt = 0
const architectureAt = 4
const argumentAt = 16

const errors = { notPermitted: 1, notImplemented: 38, familyNotSupported: 97 }
const unixFamily = 1
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = 0x7e02_0000

/** CLONE_THREAD: without it, `clone` starts a process. */
const threadFlag = 0x1_0000

function toInstructions(table: SystemCallTable, canFork: boolean): Instruction[] {
  const { clone, socket, socketpair } = table.judged
  const namespaces = ifAny(namespaceFlags, [fail(errors.notPermitted)])
  const processes = canFork ? [] : unlessAny(threadFlag, [fail(errors.notPermitted)])
  return [
    load(architectureAt),
    ...unlessEqual(table.architecture, [killProcess]),
    load(numberAt),
    ...(table.foreignFrom === undefined ? [] : ifAtLeast(table.foreignFrom, [killProcess])),
    // A filter cannot read the flags of `clone3`, which are in memory: without it, the C library
    // falls back to `clone`.
    ...ifEqual(clone, [load(argumentAt), ...namespaces, ...processes, allow]),
    // Not all address families respect network namespaces: AF_VSOCK connects a virtual machine to
    // its host.
    ...[socket, socketpair].flatMap((number) =>
      ifEqual(number, [
        load(argumentAt),
        ...unlessEqual(unixFamily, [fail(errors.familyNotSupported)]),
        allow,
      ]),
    ),
    ...toRanges(Object.values(table.allowed)).flatMap(({ first, last }) =>
      ifAtLeast(first, unlessAtLeast(last + 1, [allow])),
    ),
    fail(errors.notImplemented),
  ]
}

/** Consecutive numbers as ranges, which make the program a third as long. */
function toRanges(numbers: readonly number[]): { first: number; last: number }[] {
  const ranges: { first: number; last: number }[] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range?.last === number - 1) range.last = number
    else ranges.push({ first: number, last: number })
  }
  return ranges
}

/** BPF_LD | BPF_W | BPF_ABS */
function load(offset: number): Instruction {
  return { code: 0x20, value: offset }
}

/** BPF_RET | BPF_K with SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS and SECCOMP_RET_ERRNO. */
const allow: Instruction = { code: 0x06, value: 0x7fff_0000 }
const killProcess: Instruction = { code: 0x06, value: 0x8000_0000 }

function fail(error: number): Instruction {
  return { code: 0x06, value: 0x0005_0000 | error }
}

/** BPF_JMP | BPF_JEQ | BPF_K */
function ifEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x15, value, ifFalse: then.length }, ...then]
}

function unlessEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x15, value, ifTrue: then.length }, ...then]
}

/** BPF_JMP | BPF_JGE | BPF_K */
function ifAtLeast(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x35, value, ifFalse: then.length }, ...then]
}

function unlessAtLeast(value: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x35, value, ifTrue: then.length }, ...then]
}

/** BPF_JMP | BPF_JSET | BPF_K */
function ifAny(bits: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x45, value: bits, ifFalse: then.length }, ...then]
}

function unlessAny(bits: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: 0x45, value: bits, ifTrue: then.length }, ...then]
}

function assemble(instructions: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(instructions.length * instructionBytes))
  for (const [index, { code, ifTrue = 0, ifFalse = 0, value }] of instructions.entries()) {
    const at = index * instructionBytes
    view.setUint16(at, code, true)
    view.setUint8(at + 2, ifTrue)
    view.setUint8(at + 3, ifFalse)
    view.setUint32(at + 4, value, true)
  }
  return new Uint8Array(view.buffer)
}
