// Which controllers run beside the API, by the names of kube-controller-manager.
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { RepairTimes } from '../../controllers/service-allocation.js'
import { WORKLOAD_CONTROLLERS } from '../../workloads/workload-controllers.js'
import type { FlagTable, FlagValues } from './flag.js'
import { duration, list, toggle } from './flag-values.js'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The controllers of kube-controller-manager that this server has. */
const OWN = words(`
  clusterrole-aggregation-controller endpointslice-mirroring-controller garbage-collector-controller
  legacy-serviceaccount-token-cleaner-controller namespace-controller persistentvolume-protection-controller
  persistentvolumeclaim-protection-controller resourcequota-controller root-ca-certificate-publisher-controller
  service-cidr-controller serviceaccount-controller serviceaccount-token-controller storage-version-migrator-controller
  ttl-after-finished-controller validatingadmissionpolicy-status-controller
  volumeattributesclass-protection-controller
`)

/** Its other controllers: they need real nodes, volumes and clouds, which are not here, or sign certificates. */
const ABSENT = words(`
  bootstrap-signer-controller certificatesigningrequest-approving-controller
  certificatesigningrequest-cleaner-controller certificatesigningrequest-signing-controller
  device-taint-eviction-controller kube-apiserver-serving-clustertrustbundle-publisher-controller node-ipam-controller
  persistentvolume-attach-detach-controller persistentvolume-expander-controller
  podcertificaterequest-cleaner-controller podgroup-protection-controller resourceclaim-controller
  resourcepoolstatusrequest-controller selinux-warning-controller
  storageversion-garbage-collector-controller token-cleaner-controller ttl-controller
`)

export interface ControllerOptions {
  /** `*` for all, a name, or `-` and a name; names that are not in the list follow `*`. */
  readonly controllers: readonly string[]
  /** How long an Event is kept after it was last written. */
  readonly eventTtlMs: number
  /** Whether a Lease in kube-system shows that this server lives, which is written every ten seconds. */
  readonly identityLease: boolean
  /** When addresses and ports that no Service has are released; by the time that a request may take when absent. */
  readonly repair?: RepairTimes | undefined
}

export const DEFAULT_CONTROLLERS: ControllerOptions = {
  controllers: ['*'],
  eventTtlMs: 3_600_000,
  identityLease: false,
}

export const controllerFlags = {
  controllers: list(
    '<names>',
    `controllers to run: "*" for all, a name to switch it on, -name to switch it off. There are ${OWN.join(', ')}; and, for workloads, by name or with --simulate-workloads, ${WORKLOAD_CONTROLLERS.join(', ')}`,
    DEFAULT_CONTROLLERS.controllers,
  ),
  'enable-garbage-collector': toggle('delete objects whose owners are gone', true),
  'event-ttl': duration('how long Events are kept', DEFAULT_CONTROLLERS.eventTtlMs),
} satisfies FlagTable

type Flags = FlagValues<typeof controllerFlags>

export const controllersFromFlags = (flags: Flags): ControllerOptions => ({
  controllers: [
    ...(flags['enable-garbage-collector'] ? [] : ['-garbage-collector-controller']),
    ...checkControllers(flags.controllers, '--controllers'),
  ],
  eventTtlMs: flags['event-ttl'],
  identityLease: true,
})

/** Throws a UsageError for a name that kube-controller-manager does not have. */
export function checkControllers(names: readonly string[], label: string): readonly string[] {
  for (const given of names) {
    const name = given.replace(/^-/, '')
    const known = [...OWN, ...WORKLOAD_CONTROLLERS]
    if (given === '*' || known.includes(name) || ABSENT.includes(name)) continue
    const near = nearest(name, known)
    const hint = near === undefined ? `there are ${OWN.join(', ')}` : `did you mean ${near}?`
    throw new UsageError(`${label}: ${JSON.stringify(name)} is not in the list of known controllers: ${hint}`)
  }
  return names
}

/** Controllers that were asked for by name and are not here. */
export const controllerWarnings = (names: readonly string[]): string[] =>
  names.filter(name => ABSENT.includes(name)).map(name => `--controllers: ${name} has no effect here`)

/** The first entry that names the controller decides; without one, it runs if there is a `*`. */
export function isControllerOn(name: string, names: readonly string[]): boolean {
  const explicit = names.find(given => given === name || given === `-${name}`)
  return explicit === undefined ? names.includes('*') : explicit === name
}
