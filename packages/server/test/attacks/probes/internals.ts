import { noPermission, type ValProbe } from "./val-probe.ts"

const { read, write, sys } = noPermission
const anyFfi = /^NotCapable: Requires ffi access, /

const core = "const { core } = Deno[Deno.internal];"

/** What lies beneath Deno's own functions: the same checks must be there. */
export const internalsProbes: readonly ValProbe[] = [
  {
    tries: "to see the host's files by an op",
    code: `${core} return core.ops.op_fs_stat_sync("/etc/passwd", new Uint32Array(64))`,
    denied: read,
  },
  {
    tries: "to see whether a file exists by an op of require",
    code: `${core} return core.ops.op_require_stat("/etc/passwd")`,
    denied: read,
  },
  {
    tries: "to see whether a file exists by an op of Node",
    code: `${core} return core.ops.op_node_fs_exists_sync("/etc/passwd")`,
    denied: read,
  },
  { tries: "to open a file of the host by an op", code: `${core} return core.ops.op_node_open_sync("/etc/passwd", 0, 0)`, denied: read },
  {
    tries: "to copy a file of the host by an op",
    code: `${core} return core.ops.op_fs_copy_file_sync("/etc/passwd", "/tmp/x") ?? Deno.readTextFileSync("/tmp/x")`,
    denied: read,
  },
  { tries: "to link a file of the host by an op", code: `${core} return core.ops.op_fs_link_sync("/etc/passwd", "/tmp/x")`, denied: read },
  { tries: "to remove its socket by an op", code: `${core} return core.ops.op_fs_remove_sync("/run/val/in.sock", false)`, denied: write },
  {
    tries: "to move its socket by an op",
    code: `${core} return core.ops.op_fs_rename_sync("/run/val/in.sock", "/run/val/x")`,
    denied: read,
  },
  { tries: "to leave its folder by an op", code: `${core} return core.ops.op_fs_chdir("/")`, denied: read },
  {
    tries: "to load an environment from a file of the host",
    code: `${core} return core.ops.op_node_load_env_file("/etc/environment")`,
    denied: read,
  },
  { tries: "to make a pointer by an op", code: `${core} return String(core.ops.op_ffi_ptr_create(4096n))`, denied: anyFfi },
  {
    tries: "to read memory by an op",
    code: `${core} return core.ops.op_ffi_read_u8(core.ops.op_ffi_ptr_create(4096n), 0)`,
    denied: anyFfi,
  },
  {
    tries: "to open a native module by an op",
    code: `${core} return core.ops.op_napi_open("/tmp/evil.node", {}, Buffer, globalThis.reportError)`,
    denied: /^(NotCapable: Requires ffi access|TypeError: expected Function)/,
  },
  {
    tries: "to kill a process by an op",
    code: `${core} return core.ops.op_node_process_kill(-1, 9)`,
    denied: /^NotCapable: Requires run access, /,
  },
  { tries: "to become root by an op", code: `${core} return core.ops.op_node_process_setuid(0)`, denied: sys },
  { tries: "to raise its priority by an op", code: `${core} return core.ops.op_node_os_set_priority(0, -20)`, denied: sys },
  {
    tries: "to start the old HTTP by an op",
    code: `${core} return core.ops.op_http_start(3)`,
    denied: /^Busy: Unix socket is currently in use/,
  },
  {
    tries: "to change the options of V8 by an op",
    code: `${core} return core.ops.op_v8_set_flags_from_string("--allow-natives-syntax")`,
    gets: null,
  },
  { tries: "to talk to the inspector by an op", code: `${core} return core.ops.op_inspector_enabled()`, gets: false },
  { tries: "to open a window", code: `${core} return core.ops.op_desktop_init()`, gets: null },
  { tries: "to ask the person at the machine", code: `${core} return core.ops.op_desktop_prompt("token?", "")`, gets: null },
  {
    tries: "to apply an update to the program",
    code: `${core} return core.ops.op_desktop_apply_patch(new Uint8Array(8))`,
    denied: /^Error: Auto-update state not initialized/,
  },
  { tries: "to find the parent of its process", code: `${core} return core.ops.op_ppid()`, gets: 0 },
  { tries: "to learn who it is by an op", code: `${core} return core.ops.op_geteuid()`, denied: sys },
  {
    tries: "to change the environment by an op",
    code: `${core} core.ops.op_set_env("HAMLET_TOKEN", "forged"); return Deno.env.get("HAMLET_TOKEN") === "forged"`,
    gets: false,
  },
  {
    tries: "to print to the terminal of the server",
    code: `${core} core.ops.op_print("FORGED by an op\\n", false); core.ops.op_print("FORGED by an op\\n", true)`,
    gets: "nothing",
  },
  {
    tries: "to write to the output of the server",
    code: `${core} core.ops.op_write_sync(1, new TextEncoder().encode("FORGED by a write\\n")); core.ops.op_write_sync(2, new TextEncoder().encode("FORGED by a write\\n"))`,
    gets: "nothing",
  },
  { tries: "to write a log line of Deno", code: `${core} core.ops.op_internal_log("x", 40, "FORGED by a log")`, ends: /^crashed / },
  { tries: "to end its process by an op", code: `${core} core.ops.op_exit()`, ends: /^crashed / },
  { tries: "to abort its process by an op", code: `${core} core.ops.op_process_abort()`, ends: /^crashed / },
  { tries: "to make Deno panic", code: `${core} core.ops.op_panic("forged")`, ends: /^crashed / },
  { tries: "to close its worker where there is none", code: `${core} core.ops.op_worker_close()`, ends: /^crashed / },
  {
    tries: "to close everything that is open",
    code: `${core} for (const rid of Object.keys(core.resources())) core.tryClose(Number(rid)); await new Promise(() => {})`,
    ends: /^crashed /,
  },
  {
    tries: "to stop its own server",
    code: `${core} for (const [rid, name] of Object.entries(core.resources())) if (name === "http") core.tryClose(Number(rid))`,
    gets: "nothing",
    ends: /^(crashed|failed) /,
  },
  {
    tries: "to read what the host sends to it",
    code: `${core} const bytes = new Uint8Array(1000); for (const [rid, name] of Object.entries(core.resources())) if (name === "unixStream") return await Promise.race([core.read(Number(rid), bytes), new Promise((resolve) => setTimeout(resolve, 200, "nothing came"))])`,
    gets: "nothing came",
  },
  {
    tries: "to read the standard input of the server",
    code: `return await Promise.race([Deno.stdin.read(new Uint8Array(10)), new Promise((resolve) => setTimeout(resolve, 200, "nothing came"))])`,
    gets: null,
  },
]
