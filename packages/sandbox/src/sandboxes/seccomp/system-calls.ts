/** The number of a system call on x64 and on arm64, which lacks some older calls. */
type Numbers = readonly [x64: number | undefined, arm64: number | undefined]

/**
 * The system calls that sandboxes may make, with their numbers on x64 and on arm64. A call that is
 * not listed here does not exist for them, whatever a newer kernel brings.
 *
 * The lists are what Deno and Bun make under the test suites, and what their C library may make
 * instead on another machine. Left out on purpose: other processes, namespaces and mounts, keys,
 * kernel modules, the large programmable interfaces of the kernel (bpf, io_uring, perf), the clock
 * and the names of the machine, and `splice` with its relatives, which programs can do without.
 */
const systemCalls = {
  /** Files and folders. */
  files: {
    read: [0, 63],
    write: [1, 64],
    readv: [19, 65],
    writev: [20, 66],
    pread64: [17, 67],
    pwrite64: [18, 68],
    preadv: [295, 69],
    pwritev: [296, 70],
    preadv2: [327, 286],
    pwritev2: [328, 287],
    open: [2, undefined],
    openat: [257, 56],
    openat2: [437, 437],
    creat: [85, undefined],
    close: [3, 57],
    close_range: [436, 436],
    lseek: [8, 62],
    stat: [4, undefined],
    fstat: [5, 80],
    lstat: [6, undefined],
    newfstatat: [262, 79],
    statx: [332, 291],
    statfs: [137, 43],
    fstatfs: [138, 44],
    access: [21, undefined],
    faccessat: [269, 48],
    faccessat2: [439, 439],
    readlink: [89, undefined],
    readlinkat: [267, 78],
    getdents: [78, undefined],
    getdents64: [217, 61],
    getcwd: [79, 17],
    chdir: [80, 49],
    fchdir: [81, 50],
    mkdir: [83, undefined],
    mkdirat: [258, 34],
    rmdir: [84, undefined],
    rename: [82, undefined],
    renameat: [264, 38],
    renameat2: [316, 276],
    link: [86, undefined],
    linkat: [265, 37],
    symlink: [88, undefined],
    symlinkat: [266, 36],
    unlink: [87, undefined],
    unlinkat: [263, 35],
    chmod: [90, undefined],
    fchmod: [91, 52],
    fchmodat: [268, 53],
    chown: [92, undefined],
    fchown: [93, 55],
    lchown: [94, undefined],
    fchownat: [260, 54],
    utime: [132, undefined],
    utimes: [235, undefined],
    futimesat: [261, undefined],
    utimensat: [280, 88],
    umask: [95, 166],
    truncate: [76, 45],
    ftruncate: [77, 46],
    fallocate: [285, 47],
    fadvise64: [221, 223],
    readahead: [187, 213],
    sync_file_range: [277, 84],
    fsync: [74, 82],
    fdatasync: [75, 83],
    flock: [73, 32],
    fcntl: [72, 25],
    ioctl: [16, 29],
    dup: [32, 23],
    dup2: [33, undefined],
    dup3: [292, 24],
    pipe: [22, undefined],
    pipe2: [293, 59],
    sendfile: [40, 71],
    copy_file_range: [326, 285],
    memfd_create: [319, 279],
    inotify_init: [253, undefined],
    inotify_init1: [294, 26],
    inotify_add_watch: [254, 27],
    inotify_rm_watch: [255, 28],
  },
  /** Waiting for descriptors, timers and signals. */
  waiting: {
    poll: [7, undefined],
    ppoll: [271, 73],
    select: [23, undefined],
    pselect6: [270, 72],
    epoll_create: [213, undefined],
    epoll_create1: [291, 20],
    epoll_ctl: [233, 21],
    epoll_wait: [232, undefined],
    epoll_pwait: [281, 22],
    epoll_pwait2: [441, 441],
    eventfd: [284, undefined],
    eventfd2: [290, 19],
    signalfd: [282, undefined],
    signalfd4: [289, 74],
    timerfd_create: [283, 85],
    timerfd_settime: [286, 86],
    timerfd_gettime: [287, 87],
    pause: [34, undefined],
    alarm: [37, undefined],
    getitimer: [36, 102],
    setitimer: [38, 103],
    nanosleep: [35, 101],
    clock_nanosleep: [230, 115],
    clock_gettime: [228, 113],
    clock_getres: [229, 114],
    gettimeofday: [96, 169],
    time: [201, undefined],
    timer_create: [222, 107],
    timer_settime: [223, 110],
    timer_gettime: [224, 108],
    timer_getoverrun: [225, 109],
    timer_delete: [226, 111],
    rt_sigaction: [13, 134],
    rt_sigprocmask: [14, 135],
    rt_sigpending: [127, 136],
    rt_sigsuspend: [130, 133],
    rt_sigtimedwait: [128, 137],
    rt_sigqueueinfo: [129, 138],
    rt_tgsigqueueinfo: [297, 240],
    rt_sigreturn: [15, 139],
    sigaltstack: [131, 132],
    restart_syscall: [219, 128],
  },
  /** Sockets that exist; `socket` and `socketpair` have a rule of their own. */
  sockets: {
    bind: [49, 200],
    connect: [42, 203],
    listen: [50, 201],
    accept: [43, 202],
    accept4: [288, 242],
    getsockname: [51, 204],
    getpeername: [52, 205],
    getsockopt: [55, 209],
    setsockopt: [54, 208],
    sendto: [44, 206],
    recvfrom: [45, 207],
    sendmsg: [46, 211],
    recvmsg: [47, 212],
    sendmmsg: [307, 269],
    recvmmsg: [299, 243],
    shutdown: [48, 210],
  },
  /** Memory. */
  memory: {
    brk: [12, 214],
    mmap: [9, 222],
    munmap: [11, 215],
    mprotect: [10, 226],
    mremap: [25, 216],
    msync: [26, 227],
    mincore: [27, 232],
    madvise: [28, 233],
    mlock: [149, 228],
    mlock2: [325, 284],
    munlock: [150, 229],
    mlockall: [151, 230],
    munlockall: [152, 231],
    membarrier: [324, 283],
    pkey_alloc: [330, 289],
    pkey_free: [331, 290],
    pkey_mprotect: [329, 288],
    get_mempolicy: [239, 236],
  },
  /** The process itself, its threads and its children; `clone` has a rule of its own. */
  processes: {
    execve: [59, 221],
    exit: [60, 93],
    exit_group: [231, 94],
    wait4: [61, 260],
    waitid: [247, 95],
    kill: [62, 129],
    tkill: [200, 130],
    tgkill: [234, 131],
    pidfd_open: [434, 434],
    pidfd_send_signal: [424, 424],
    getpid: [39, 172],
    getppid: [110, 173],
    gettid: [186, 178],
    getpgid: [121, 155],
    getpgrp: [111, undefined],
    setpgid: [109, 154],
    getsid: [124, 156],
    setsid: [112, 157],
    set_tid_address: [218, 96],
    set_robust_list: [273, 99],
    get_robust_list: [274, 100],
    rseq: [334, 293],
    futex: [202, 98],
    futex_waitv: [449, 449],
    sched_yield: [24, 124],
    sched_getaffinity: [204, 123],
    sched_setaffinity: [203, 122],
    sched_getparam: [143, 121],
    sched_setparam: [142, 118],
    sched_getscheduler: [145, 120],
    sched_setscheduler: [144, 119],
    sched_getattr: [315, 275],
    sched_setattr: [314, 274],
    sched_get_priority_max: [146, 125],
    sched_get_priority_min: [147, 126],
    sched_rr_get_interval: [148, 127],
    getpriority: [140, 141],
    setpriority: [141, 140],
    prctl: [157, 167],
    arch_prctl: [158, undefined],
    prlimit64: [302, 261],
    getrlimit: [97, 163],
    setrlimit: [160, 164],
    getrusage: [98, 165],
    times: [100, 153],
    sysinfo: [99, 179],
    uname: [63, 160],
    getcpu: [309, 168],
    getrandom: [318, 278],
  },
  /** setpriv switches the user behind the filter. */
  users: {
    getuid: [102, 174],
    geteuid: [107, 175],
    getgid: [104, 176],
    getegid: [108, 177],
    getresuid: [118, 148],
    getresgid: [120, 150],
    getgroups: [115, 158],
    setresuid: [117, 147],
    setresgid: [119, 149],
    setgroups: [116, 159],
    capget: [125, 90],
    capset: [126, 91],
  },
} as const satisfies Record<string, Record<string, Numbers>>

/** A program that a filter is for. */
export type FilteredProgram = "deno" | "worker"

/** What a filter must know about one architecture. */
export interface SystemCallTable {
  /** AUDIT_ARCH_… of linux/audit.h. */
  readonly architecture: number
  /** Numbers from here on belong to another calling convention (x32); undefined without one. */
  readonly foreignFrom: number | undefined
  /** Calls with a rule of their own, which depends on their first argument. */
  readonly judged: Readonly<Record<keyof typeof judgedCalls, number>>
  /** Calls that are allowed with any arguments, by name. */
  readonly allowed: Readonly<Record<string, number>>
}

const judgedCalls = {
  clone: [56, 220],
  socket: [41, 198],
  socketpair: [53, 199],
} as const

/** Older calls that start a process. Workers start none. */
const forks = { fork: [57, undefined], vfork: [58, undefined] } as const

/** Workers get their only socket from the server, and watch no files. */
const notForWorkers = new Set([
  "bind",
  "connect",
  "listen",
  "accept",
  "accept4",
  "inotify_init",
  "inotify_init1",
  "inotify_add_watch",
  "inotify_rm_watch",
])

const { files, waiting, sockets, memory, processes, users } = systemCalls
const everyCall = { ...files, ...waiting, ...sockets, ...memory, ...processes, ...users }

/** Undefined on other architectures than x64 and arm64. */
export function findSystemCalls(
  architecture: NodeJS.Architecture,
  program: FilteredProgram,
): SystemCallTable | undefined {
  const listed = Object.entries<Numbers>(
    program === "worker" ? everyCall : { ...everyCall, ...forks },
  ).filter(([name]) => program !== "worker" || !notForWorkers.has(name))
  if (architecture === "x64")
    return { architecture: 0xc000_003e, foreignFrom: 0x4000_0000, ...toNumbers(listed, 0) }
  if (architecture === "arm64")
    return { architecture: 0xc000_00b7, foreignFrom: undefined, ...toNumbers(listed, 1) }
  return undefined
}

function toNumbers(listed: readonly [string, Numbers][], column: 0 | 1) {
  const { clone, socket, socketpair } = judgedCalls
  const known = listed.flatMap(([name, numbers]) => {
    const number = numbers[column]
    return number === undefined ? [] : [[name, number] as const]
  })
  return {
    judged: { clone: clone[column], socket: socket[column], socketpair: socketpair[column] },
    allowed: Object.fromEntries(known),
  }
}
