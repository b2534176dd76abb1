import { closeSync, openSync, readSync } from "node:fs"
import { readText } from "./processes.ts"

const partBytes = 4 * 1024 ** 2

/** Which of the texts are anywhere in what a process can write to. Only root may look. */
export function findInMemory(pid: number, texts: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const needles = texts.map((text) => Buffer.from(text))
  const overlap = Math.max(...needles.map(({ length }) => length))
  const part = Buffer.alloc(partBytes + overlap)
  const memory = openSync(`/proc/${pid}/mem`, "r")
  try {
    for (const [start, end] of listWritable(pid))
      for (let at = start; at < end; at += partBytes) {
        const count = tryRead(memory, part, Math.min(partBytes + overlap, end - at), at)
        for (const [index, needle] of needles.entries())
          if (part.subarray(0, count).includes(needle)) found.add(texts[index] ?? "")
      }
  } finally {
    closeSync(memory)
  }
  return texts.filter((text) => found.has(text))
}

function listWritable(pid: number): readonly (readonly [number, number])[] {
  return readText(`/proc/${pid}/maps`)
    .split("\n")
    .flatMap((line) => {
      const [, start = "", end = ""] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
      return start === "" ? [] : [[Number.parseInt(start, 16), Number.parseInt(end, 16)] as const]
    })
}

/** What the process has given back in the meantime cannot be read. */
function tryRead(file: number, buffer: Buffer, length: number, position: number): number {
  try {
    return readSync(file, buffer, 0, length, position)
  } catch {
    return 0
  }
}
