/** The checks of APIs that fail in a val, with what their message says. */
export const refusedApis: Readonly<Record<string, RegExp>> = {
  // Deno does not have them either, or not without a flag.
  XMLHttpRequest: /is not defined/,
  WebTransport: /is not defined/,
  indexedDB: /is not defined/,
  "Deno.cron": /is not a function/,
  "Deno.openKv": /is not a function/,
  "Deno.listenDatagram": /is not a function/,
  // The sandbox does not have them.
  "Deno.symlink and realPath": /Cannot create a link: a val can create only files and folders/,
  "Deno.listen": /Cannot listen on port 0: a val has no ports of its own/,
  "Deno.Command": /Cannot start "true": a val cannot start programs/,
  "Deno.dlopen": /Cannot load the library .*: a val cannot load native code/,
  "Deno.umask": /Cannot use "umask"/,
  "Deno.readFile outside of /tmp":
    /a val has only the files in \/tmp, those of its packages, and its own/,
  "node:os uptime": /Cannot use "osUptime"/,
  "process.umask": /Cannot use "umask"/,
  "node:net createServer": /Cannot listen on port 0: a val has no ports of its own/,
  "node:dgram": /Cannot use UDP: vals can open TCP connections only/,
  "node:child_process spawn": /Cannot start "true": a val cannot start programs/,
  "node:child_process execSync": /Cannot start "echo hi": a val cannot start programs/,
}
