import type { ValProbe } from "./val-probe.ts"

/**
 * Operations of Deno with which a val could look at files, end the process, write past the guest,
 * or change what the guest relies on.
 */
const operations: readonly string[] = [
  "op_desktop_apply_patch",
  "op_desktop_init",
  "op_desktop_prompt",
  "op_exit",
  "op_ffi_ptr_create",
  "op_ffi_read_u8",
  "op_fs_chdir",
  "op_fs_copy_file_sync",
  "op_fs_link_sync",
  "op_fs_remove_sync",
  "op_fs_rename_sync",
  "op_fs_stat_sync",
  "op_geteuid",
  "op_http_start",
  "op_inspector_enabled",
  "op_internal_log",
  "op_napi_open",
  "op_node_fs_exists_sync",
  "op_node_load_env_file",
  "op_node_open_sync",
  "op_node_os_set_priority",
  "op_node_process_kill",
  "op_node_process_setuid",
  "op_panic",
  "op_ppid",
  "op_print",
  "op_process_abort",
  "op_require_stat",
  "op_set_env",
  "op_v8_set_flags_from_string",
  "op_worker_close",
  "op_write_sync",
]

/**
 * Runs the body of an async function in a Worker, which has a Deno of its own that the guest has
 * not prepared.
 */
function inWorker(code: string): string {
  const work = `postMessage(await (async () => { ${code} })())`
  return `const worker = new Worker("data:text/javascript," + encodeURIComponent(${JSON.stringify(work)}), { type: "module" })
  return await new Promise((resolve, reject) => {
    worker.onerror = (event) => { event.preventDefault(); reject(new Error(event.message)) }
    worker.onmessage = ({ data }) => resolve(data)
  })`
}

/** What lies beneath Deno's own functions is not there for vals. */
export const internalsProbes: readonly ValProbe[] = [
  {
    tries: "to find Deno's internals",
    code: `return [typeof Deno.internal, typeof Deno[Deno.internal], Reflect.ownKeys(Deno).filter((key) => typeof key === "symbol").length, typeof Deno.core, typeof globalThis.__bootstrap]`,
    gets: ["undefined", "undefined", 0, "undefined", "undefined"],
  },
  {
    tries: "to find Deno's operations in a worker",
    code: inWorker(
      `const { ops } = Deno[Deno.internal].core; return ${JSON.stringify(operations)}.filter((name) => typeof ops[name] === "function")`,
    ),
    // Operations that do nothing without a window or a permission.
    gets: ["op_desktop_apply_patch", "op_desktop_init", "op_desktop_prompt", "op_napi_open"],
  },
  {
    tries: "to open a native module by an operation in a worker",
    code: inWorker(
      `return Deno[Deno.internal].core.ops.op_napi_open("/tmp/evil.node", {}, Buffer, globalThis.reportError)`,
    ),
    denied: /Requires ffi access|expected Function|Buffer is not defined/,
  },
  {
    tries: "to ask the person at the machine in a worker",
    code: inWorker(`return Deno[Deno.internal].core.ops.op_desktop_prompt("token?", "") ?? null`),
    gets: null,
  },
  {
    tries: "to find the guest's sockets in a worker",
    code: inWorker(
      `return Object.values(Deno[Deno.internal].core.resources()).filter((name) => /unix|http/.test(name))`,
    ),
    gets: [],
  },
  {
    tries: "to close everything that is open",
    code: `for (let id = 3; id < 100; id++) try { new Deno.FsFile(id, Symbol.for("Deno.internal.FsFile")).close() } catch {}
  await new Promise(() => {})`,
    ends: /^crashed /,
  },
  {
    tries: "to read what the host sends to it",
    code: `return await Promise.race([new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile")).read(new Uint8Array(1000)), new Promise((resolve) => setTimeout(resolve, 200, "nothing came"))])`,
    gets: "nothing came",
  },
  {
    tries: "to read the standard input of the server",
    code: `return await Promise.race([Deno.stdin.read(new Uint8Array(10)), new Promise((resolve) => setTimeout(resolve, 20_000, "nothing came"))])`,
    gets: null,
  },
]
