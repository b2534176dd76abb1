import { describe, expect, test } from "bun:test"
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { routes } from "@hamlet/contract"
import { notRun } from "@hamlet/kit/testing"
import packageJson from "../package.json" with { type: "json" }
import { options } from "../src/config/config.ts"
import { expectStatus, openApi } from "./support/api.ts"

// The files of deploy/, as far as they can be checked without a machine to deploy to. Those of
// proxies are in process/routing.test.ts, and `npm run container-test` builds the image.
const root = new URL("../../../", import.meta.url).pathname
const deploy = join(root, "deploy")
const read = (...path: string[]) => readFileSync(join(deploy, ...path), "utf8")

const promtool = Bun.which("promtool")
const systemdAnalyze = Bun.which("systemd-analyze")
if (!promtool) notRun("the alerts of deploy/prometheus", "promtool is not installed")
if (!systemdAnalyze) notRun("the units of deploy/systemd", "systemd-analyze is not installed")

function run(command: readonly string[], cwd: string): { exitCode: number; text: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd })
  return { exitCode, text: `${stdout}${stderr}` }
}

describe("deploy/", () => {
  test("names no setting that the server does not have", () => {
    const known = new Set([
      ...options.map(({ env }) => env),
      // Variables of compose.yaml and the Caddyfile, and of the command line.
      "HAMLET_DOMAIN",
      "HAMLET_NODES",
      "HAMLET_URL",
      // Variables of the libSQL server for the databases of users.
      "HAMLET_LIBSQL_URL",
      "HAMLET_LIBSQL_ADMIN_URL",
    ])
    const files = readdirSync(deploy, { recursive: true, withFileTypes: true })
    const texts = files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
    const named = texts.flatMap((text) => text.match(/\b(?:HAMLET|OTEL)_[A-Z0-9_]+/g) ?? [])
    expect(named).toContain("HAMLET_DATABASE_URL")
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
  })

  test("example.env has every variable of compose.yaml", () => {
    const used = [...read("compose.yaml").matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name)
    const set = [...read("example.env").matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    expect([...new Set(used)].toSorted()).toEqual(set.toSorted())
  })

  test("the manifests of Kubernetes fit each other, the image and the routes", () => {
    const kustomization = parseYaml<Kustomization>("kustomization.yaml")[0]
    const files = readdirSync(join(deploy, "kubernetes")).filter((name) => name.endsWith(".yaml"))
    const resources = files.filter((name) => name !== "kustomization.yaml")
    expect(kustomization?.resources.toSorted()).toEqual(resources.toSorted())
    const [deployment] = parseYaml<Deployment>("deployment.yaml")
    const pod = deployment?.spec.template
    const [container] = pod?.spec.containers ?? []
    if (!pod || !container) throw new Error("deployment.yaml has no container")
    expect(container.image).toEndWith(`:${packageJson.version}`)
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe]
    expect(paths.map(({ httpGet }) => httpGet.path)).toEqual([
      routes.getHealth.path,
      routes.getHealth.path,
      routes.getReadiness.path,
    ])
    const settings = Object.fromEntries(
      kustomization?.configMapGenerator[0]?.literals.map((literal) => literal.split("=")) ?? [],
    )
    const secrets = read("kubernetes", "example.secret.env").match(/^HAMLET_\w+/gm) ?? []
    // A server with a key would otherwise be used without one.
    expect(secrets).toContain("HAMLET_LIBSQL_KEY")
    expect(secrets).toContain("HAMLET_LIBSQL_ADMIN_KEY")
    const ports = Object.fromEntries(
      container.ports.map(({ name, containerPort }) => [name, String(containerPort)]),
    )
    expect(ports).toEqual({ http: "8080", metrics: settings.HAMLET_METRICS_PORT })
    expect(pod.metadata.annotations["prometheus.io/port"]).toBe(settings.HAMLET_METRICS_PORT)
    const { seconds } = container.lifecycle.preStop.sleep
    // Ten seconds for open requests, and as many for the rest.
    const stopSeconds = seconds + Number(settings.HAMLET_DRAIN_SECONDS) + 20
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(stopSeconds)
    const labels = pod.metadata.labels
    expect(deployment?.spec.selector.matchLabels).toEqual(labels)
    const [policy] = parseYaml<Policy>("network-policy.yaml")
    const [monitor] = parseYaml<Monitor>("monitoring/pod-monitor.yaml")
    expect([policy?.spec.podSelector.matchLabels, monitor?.spec.selector.matchLabels]).toEqual([
      labels,
      labels,
    ])
    const named = policy?.spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port))
    expect(named).toEqual(Object.keys(ports))
    expect(monitor?.spec.podMetricsEndpoints.map(({ port }) => port)).toEqual(["metrics"])
    for (const file of ["service.yaml", "disruption-budget.yaml"])
      for (const { spec } of parseYaml<Selecting>(file))
        expect(spec.selector.matchLabels ?? spec.selector).toEqual(labels)
  })

  test("alerts and dashboard use only metrics that the server has", async () => {
    const mail = { HAMLET_MAIL_DOMAIN: "mail.test", HAMLET_SMTP_URL: "smtp://127.0.0.1:1" }
    const api = await openApi(undefined, { ...mail, HAMLET_SMTP_PORT: "0" })
    try {
      const { text } = expectStatus(await api.call("GET", "/metrics"), 200)
      const types = new Map(
        [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type]) => [name, type]),
      )
      const used = [read("prometheus", "alerts.yml"), read("grafana", "hamlet.json")].flatMap(
        (file) => file.match(/\b(?:hamlet|process)_[a-z0-9_]+/g) ?? [],
      )
      const unknown = used.filter((name) => {
        const base = name.replace(/_(?:bucket|count|sum)$/, "")
        return !types.has(name) && types.get(base) !== "histogram"
      })
      expect(used.length).toBeGreaterThan(40)
      expect(unknown).toEqual([])
    } finally {
      await api.close()
    }
  })

  test("the dashboard has panels with queries, each with an id of its own", () => {
    const { panels } = JSON.parse(read("grafana", "hamlet.json")) as { panels: readonly Panel[] }
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { type, title, targets } of panels)
      if (type !== "row")
        expect([title, targets?.every(({ expr }) => expr !== "")]).toEqual([title, true])
  })

  test.if(promtool !== null)("promtool accepts the alerts, and they fire when they should", () => {
    const folder = join(deploy, "prometheus")
    for (const command of [
      ["check", "config", "prometheus.yml"],
      ["test", "rules", "alerts.test.yml"],
    ]) {
      const { exitCode, text } = run([promtool ?? "", ...command], folder)
      expect(exitCode, text).toBe(0)
    }
  })

  test.if(systemdAnalyze !== null)("systemd-analyze accepts the units", () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-units-"))
    try {
      const units = readdirSync(join(deploy, "systemd")).filter((name) => !name.endsWith(".env"))
      // systemd-analyze looks whether the programs exist.
      for (const name of units)
        if (name.endsWith(".service"))
          writeFileSync(join(folder, name), read("systemd", name).replaceAll("/opt/hamlet/", root))
        else copyFileSync(join(deploy, "systemd", name), join(folder, name))
      const verify = [systemdAnalyze ?? "", "verify", "--man=no", ...units]
      const { exitCode, text } = run(verify, folder)
      // systemd-analyze also reports problems of the machine's own units.
      const problems = text.split("\n").filter((line) => line.includes("hamlet"))
      expect([exitCode, problems]).toEqual([0, []])
      expect(units.length).toBe(4)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

function parseYaml<Document>(name: string): readonly Document[] {
  const texts = read("kubernetes", name).split(/^---$/m)
  return texts.map((text) => Bun.YAML.parse(text) as Document)
}

interface Kustomization {
  readonly resources: readonly string[]
  readonly configMapGenerator: readonly { readonly literals: readonly string[] }[]
}

interface Selecting {
  readonly spec: { readonly selector: { readonly matchLabels?: object } }
}

interface Policy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: object }
    readonly ingress: readonly { readonly ports: readonly { readonly port: string }[] }[]
  }
}

interface Monitor {
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly podMetricsEndpoints: readonly { readonly port: string }[]
  }
}

interface Probe {
  readonly httpGet: { readonly path: string }
}

interface Deployment {
  readonly spec: {
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: {
        readonly labels: object
        readonly annotations: Readonly<Record<string, string>>
      }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly containers: readonly {
          readonly image: string
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
          readonly startupProbe: Probe
          readonly livenessProbe: Probe
          readonly readinessProbe: Probe
          readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } }
        }[]
      }
    }
  }
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string }[]
}
