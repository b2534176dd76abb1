/** The numbers of the system calls that sandboxes must not make, on one architecture. */
export interface SystemCallTable {
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly architecture: number
  /** Numbers from here on belong to another calling convention (x32); undefined without one. */
  readonly foreignFrom: number | undefined
  readonly clone: number
  readonly clone3: number
  readonly socket: number
  readonly socketpair: number
  /** Older calls that start a process; newer architectures do not have them. */
  readonly forks: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
}

/** Since Linux 5.1, new system calls have the same number on every architecture. */
const refusedEverywhere = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
}

const clone3 = 435

/**
 * Calls that no JavaScript needs, and that have been used, or could be used, to break out: access
 * to other processes, namespaces and mounts, keys, kernel modules, the large programmable
 * interfaces of the kernel, and the clock and the names of the machine. `modify_ldt` exists on x86
 * only, where it has had several vulnerabilities.
 */
export const systemCallTables: Readonly<Partial<Record<NodeJS.Architecture, SystemCallTable>>> = {
  x64: {
    architecture: 0xc000_003e,
    foreignFrom: 0x4000_0000,
    clone: 56,
    clone3,
    socket: 41,
    socketpair: 53,
    forks: { fork: 57, vfork: 58 },
    refused: {
      ...refusedEverywhere,
      ptrace: 101,
      syslog: 103,
      personality: 135,
      modify_ldt: 154,
      pivot_root: 155,
      adjtimex: 159,
      chroot: 161,
      acct: 163,
      settimeofday: 164,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      sethostname: 170,
      setdomainname: 171,
      iopl: 172,
      ioperm: 173,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      clock_settime: 227,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      vmsplice: 278,
      perf_event_open: 298,
      fanotify_init: 300,
      name_to_handle_at: 303,
      open_by_handle_at: 304,
      clock_adjtime: 305,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    architecture: 0xc000_00b7,
    foreignFrom: undefined,
    clone: 220,
    clone3,
    socket: 198,
    socketpair: 199,
    forks: {},
    refused: {
      ...refusedEverywhere,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      chroot: 51,
      quotactl: 60,
      vmsplice: 75,
      acct: 89,
      personality: 92,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      clock_settime: 112,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      sethostname: 161,
      setdomainname: 162,
      settimeofday: 170,
      adjtimex: 171,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      fanotify_init: 262,
      name_to_handle_at: 264,
      open_by_handle_at: 265,
      clock_adjtime: 266,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
}
