import { watchProcess } from "../internals.ts"
import {
  arrayIncludes,
  arrayPush,
  reflectApply,
  stringSlice,
  stringStartsWith,
} from "../primordials.ts"

/** A module of Node, as `require` gives it. */
export type BuiltIn = Record<string, unknown>
export type FindBuiltIn = (name: string) => BuiltIn
export type NodeProcess = typeof globalThis.process

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
const changes: ((process: NodeProcess) => void)[] = []
let nodeProcess: NodeProcess | undefined
let readFind: (() => FindBuiltIn) | undefined
let find: FindBuiltIn | undefined
const { defineProperty, getOwnPropertyDescriptor } = Object

/**
 * From here on, `process` and modules of Node are changed before the val gets them: by the global,
 * by an import that the host has announced, and by `require`. Computed imports are noticed a
 * moment after their module was loaded, which is before the val gets it too.
 */
export function provideBuiltIns(): void {
  defineProperty(globalThis, "process", {
    get: getProcess,
    set: setGlobal,
    enumerable: true,
    configurable: true,
  })
  watchProcess(getProcess)
  patchBuiltIns(["module"], (get) => {
    const system = get("module") as { _load: (name: unknown, ...rest: unknown[]) => unknown }
    const { _load: load } = system
    system._load = function (this: unknown, ...args) {
      prepareBuiltIns([args[0]])
      return reflectApply(load, this, args)
    }
  })
}

/** Has `change` called with `process` before the val gets it. */
export function changeProcess(change: (process: NodeProcess) => void): void {
  arrayPush(changes, change)
}

/**
 * Has `apply` called once, before code of the val gets one of these modules. Named exports of
 * node:fs, node:timers and others are copies of what the module has when it is imported first, so a
 * patch that comes later would miss them.
 */
export function patchBuiltIns(names: readonly string[], apply: (find: FindBuiltIn) => void): void {
  arrayPush(patches, { names, apply, isApplied: false })
}

/** Called before code of the val gets these modules. */
export function prepareBuiltIns(names: readonly unknown[]): void {
  if (names.length === 0) return
  getProcess()
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]
    if (typeof name === "string")
      prepare(stringStartsWith(name, prefix) ? stringSlice(name, prefix.length) : name)
  }
}

const prefix = "node:"

function prepare(name: string): void {
  for (let index = 0; index < patches.length; index += 1) {
    const patch = patches[index] as Patch
    if (patch.isApplied || !arrayIncludes(patch.names, name)) continue
    patch.isApplied = true
    patch.apply(getBuiltIn)
  }
}

/** A module of Node, without preparing it. */
export function getBuiltIn(name: string): BuiltIn {
  getProcess()
  find ??= readFind?.()
  return find?.(name) as BuiltIn
}

/** Node's `process`, which is loaded when it is needed first. */
export function getProcess(): NodeProcess {
  if (nodeProcess !== undefined) return nodeProcess
  if (readProcess === undefined) throw new Error("Cannot start: Deno has no global process")
  const process = reflectApply(readProcess, globalThis, []) as NodeProcess
  // Code of Node that is loaded here may read the global, and so come here first.
  if (nodeProcess !== undefined) return nodeProcess
  nodeProcess = process
  setGlobal(process)
  // Reading this property loads all of Node's module system.
  const read = getOwnPropertyDescriptor(process, "getBuiltinModule")?.get
  if (read === undefined) throw new Error("Cannot start: getBuiltinModule is no getter")
  readFind = () => reflectApply(read, process, []) as FindBuiltIn
  defineProperty(process, "getBuiltinModule", {
    value: (name: string) => {
      prepareBuiltIns([name])
      return getBuiltIn(name)
    },
    writable: true,
    configurable: true,
  })
  for (let index = 0; index < changes.length; index += 1) changes[index]?.(process)
  return process
}

function setGlobal(value: unknown): void {
  defineProperty(globalThis, "process", {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}
