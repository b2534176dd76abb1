import { describe, expect, test } from "bun:test"
import { type ContainerFacts, listMissingFlags } from "./isolation-advice.ts"

const seccomp = "--security-opt seccomp=unconfined"
const paths = "--security-opt systempaths=unconfined"
const profile = "--security-opt apparmor=unconfined"

const root = "1200 1100 0:70 / / rw,relatime - overlay overlay rw"
const proc = "1210 1200 0:75 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw"
/** What Podman mounts over /proc by default. */
const masks = `1301 1210 0:75 /sys /proc/sys ro,nosuid,nodev,noexec,relatime - proc proc rw
1302 1210 0:76 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw`

const open: ContainerFacts = {
  isContainer: true,
  status: "Name:\tbun\nNoNewPrivs:\t0\nSeccomp:\t0\nSeccomp_filters:\t0\n",
  mounts: `${root}\n${proc}\n`,
  profile: "unconfined\n",
}
const filtered = { status: "Name:\tbun\nSeccomp:\t2\nSeccomp_filters:\t1\n" }
const masked = { mounts: `${root}\n${proc}\n${masks}\n` }
const confined = { profile: "docker-default (enforce)\n" }

describe("listMissingFlags names", () => {
  const cases: readonly [string, Partial<ContainerFacts>, readonly string[]][] = [
    ["all that are missing by default", { ...filtered, ...masked }, [seccomp, paths]],
    ["that of the system call filter", filtered, [seccomp]],
    ["that of the mounts over /proc", masked, [paths]],
    ["that of the AppArmor profile", confined, [profile]],
    ["none when all are given", {}, []],
    ["none outside of a container", { ...filtered, ...masked, isContainer: false }, []],
    ["none where the system has no such files", { status: "", mounts: "", profile: "" }, []],
  ]
  for (const [title, facts, expected] of cases)
    test(title, () => expect(listMissingFlags({ ...open, ...facts })).toEqual([...expected]))
})
