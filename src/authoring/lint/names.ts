// Lint of names: those that kubectl would take for something else.

import type { LintRule } from './lint-rule.js'

/** Names that widespread kinds of others have. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  certificates: 'cert-manager.io',
  issuers: 'cert-manager.io',
  gateways: 'gateway.networking.k8s.io',
  httproutes: 'gateway.networking.k8s.io',
  virtualservices: 'networking.istio.io',
  servicemonitors: 'monitoring.coreos.com',
  podmonitors: 'monitoring.coreos.com',
  prometheusrules: 'monitoring.coreos.com',
  applications: 'argoproj.io',
  workflows: 'argoproj.io',
  rollouts: 'argoproj.io',
  kustomizations: 'kustomize.toolkit.fluxcd.io',
  helmreleases: 'helm.toolkit.fluxcd.io',
  pipelines: 'tekton.dev',
  tasks: 'tekton.dev',
  backups: 'velero.io',
  restores: 'velero.io',
  clusters: 'cluster.x-k8s.io',
  machines: 'cluster.x-k8s.io',
  scaledobjects: 'keda.sh',
  externalsecrets: 'external-secrets.io',
  volumesnapshots: 'snapshot.storage.k8s.io',
}

export const nameRules: readonly LintRule[] = [
  {
    name: 'name-of-builtin',
    severity: 'warning',
    reason:
      'kubectl takes a name that several resources have for the built-in one, so that users get objects they did not mean.',
    hint: 'choose another name; users of this one must write it with its group',
    check({ spec: { group, names }, builtin }, report) {
      const taken = new Map<string, string>()
      for (const kind of builtin) {
        if (kind.group === group) continue
        for (const name of [kind.names.plural, kind.names.singular, ...kind.names.shortNames]) {
          if (name !== '' && !taken.has(name)) taken.set(name, kind.group === '' ? 'v1' : kind.group)
        }
      }
      const own: [string, string | undefined][] = [
        ['spec.names.plural', names.plural],
        ['spec.names.singular', names.singular],
        ...(names.shortNames ?? []).map((name, i): [string, string] => [`spec.names.shortNames[${i}]`, name]),
      ]
      for (const [at, name] of own) {
        const owner = name === undefined ? undefined : taken.get(name)
        if (owner !== undefined) report(at, `${name} is also a name of a built-in resource of ${owner}`)
      }
    },
  },
  {
    name: 'well-known-name',
    severity: 'note',
    reason: 'Two definitions with one name on a cluster make kubectl choose one of them.',
    check({ spec: { group, names } }, report) {
      const owner = Object.hasOwn(WELL_KNOWN, names.plural) ? WELL_KNOWN[names.plural] : undefined
      if (owner === undefined || owner === group) return
      const hint = `users who have both write ${names.plural}.${group}`
      report('spec.names.plural', `${names.plural} is also the name of a resource of ${owner}`, hint)
    },
  },
  {
    name: 'kind-name',
    severity: 'warning',
    reason: 'Kinds are singular nouns in CamelCase; generators of clients make types of them.',
    check({ spec: { names } }, report) {
      if (!/^[A-Z][A-Za-z0-9]*$/.test(names.kind)) report('spec.names.kind', `the kind ${names.kind} is not CamelCase`)
      if (names.plural === names.kind.toLowerCase() && !names.plural.endsWith('s')) {
        report('spec.names.plural', `the plural ${names.plural} is the singular`)
      }
    },
  },
]
