import { arrayPush, reflectApply } from "../primordials.ts"

/** A module of Node, as `require` gives it. */
export type BuiltIn = Record<string, unknown>
export type FindBuiltIn = (name: string) => BuiltIn

interface Patch {
  readonly names: readonly string[]
  readonly apply: (find: FindBuiltIn) => void
  isApplied: boolean
}

/**
 * Loading Node's `process` takes longer than all of the guest, and most vals do not use it. So no
 * code of the guest imports a module of Node before a val needs one.
 */
const readProcess = Object.getOwnPropertyDescriptor(globalThis, "process")?.get
const patches: Patch[] = []
let nodeProcess: NodeProcess | undefined
let find: FindBuiltIn | undefined

export type NodeProcess = typeof globalThis.process

/**
 * Has `apply` called once, before code of the val gets one of these modules. Named exports of
 * node:fs, node:timers and others are copies of what the module has when it is imported first, so a
 * patch that comes later would miss them.
 */
export function patchBuiltIns(names: readonly string[], apply: (find: FindBuiltIn) => void): void {
  arrayPush(patches, { names, apply, isApplied: false })
}

/** Called before code of the val gets these modules; `node:` is not part of their names. */
export function prepareBuiltIns(names: readonly string[]): void {
  if (names.length === 0) return
  getProcess()
  for (let index = 0; index < names.length; index += 1) prepare(names[index] as string)
}

function prepare(name: string): void {
  for (let index = 0; index < patches.length; index += 1) {
    const patch = patches[index] as Patch
    if (patch.isApplied || !includes(patch.names, name)) continue
    patch.isApplied = true
    patch.apply(getBuiltIn)
  }
}

function includes(names: readonly string[], name: string): boolean {
  for (let index = 0; index < names.length; index += 1) if (names[index] === name) return true
  return false
}

/** A module of Node, without preparing it. */
export function getBuiltIn(name: string): BuiltIn {
  // Reading this property loads all of Node's module system.
  find ??= (getProcess() as unknown as { getBuiltinModule: FindBuiltIn }).getBuiltinModule
  return find(name)
}

let guard: (process: NodeProcess) => void = () => {}

/** Has `change` called with the global `process` before the val gets it. */
export function guardProcess(change: (process: NodeProcess) => void): void {
  guard = change
  Object.defineProperty(globalThis, "process", {
    get: getProcess,
    set: (value: unknown) => setGlobal(value),
    enumerable: true,
    configurable: true,
  })
}

function getProcess(): NodeProcess {
  if (nodeProcess !== undefined) return nodeProcess
  if (readProcess === undefined) throw new Error("Cannot start: Deno has no global process")
  nodeProcess = reflectApply(readProcess, globalThis, []) as NodeProcess
  guard(nodeProcess)
  setGlobal(nodeProcess)
  return nodeProcess
}

const { defineProperty } = Object

function setGlobal(value: unknown): void {
  defineProperty(globalThis, "process", {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}
