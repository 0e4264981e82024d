// What is served.
import { UsageError } from '../../base/usage-error.js'
import { NODE_PORTS, type PortRange, parsePortRange, parseServiceRanges } from '../../builtin/service-addresses.js'
import type { ConvertFunction } from '../../convert/function-conversion.js'
import { checkFeatureGates, type FeatureGates, gatesAtVersion } from '../../meta/feature-gates.js'
import { type HostOverrides, parseHostOverride } from '../../webhook/host-overrides.js'
import { errorOfKeyPair } from '../tls/key-pair.js'
import type { KeyPair } from '../tls/x509.js'
import { gatesWithoutEffect } from './effective-gates.js'
import type { FlagTable, FlagValues } from './flag.js'
import { readFlagFile } from './flag-files.js'
import { booleans, optionalText, text, toggle } from './flag-values.js'
import type { StorageMediaType } from './storage.js'
import { type VersionOptions, versionFlags, versionsFromFlags } from './versions.js'

/** By `apps/v1/deployments`, `apps/v1`, `v1`, or `api/all`, `api/ga`, `api/beta`, `api/alpha`; the most specific one counts. */
export type RuntimeConfig = Readonly<Record<string, boolean>>

export interface ApiOptions {
  /** The range of the addresses of Services, or one of each family: `10.0.0.0/16,fd00::/108`. */
  readonly serviceRange: string
  /** The range of node ports; 30000 to 32767 by default. */
  readonly nodePorts?: PortRange | undefined
  readonly runtimeConfig: RuntimeConfig
  /** The release of Kubernetes that the server behaves as. */
  readonly versions: VersionOptions
  readonly featureGates: FeatureGates
  /** Whether containers may be privileged. kube-apiserver's default is no, but whatever starts a cluster sets the flag. */
  readonly allowPrivileged: boolean
  /** Whether a list at resourceVersion=0 is answered as from kube-apiserver's watch cache. */
  readonly watchCache: boolean
  /** How built-in objects are encoded in etcd. */
  readonly storageMediaType: StorageMediaType
  /** Addresses of webhooks by host name, for names that DNS does not know, such as `converter.default.svc`. */
  readonly webhookHosts: HostOverrides
  /** The certificate with which extension servers are called, and its key, in PEM form. */
  readonly proxyClient?: KeyPair | undefined
  /** Whether redirects of extension servers are passed on; they are answered with 502 otherwise. */
  readonly forwardsRedirects?: boolean | undefined
  /** Functions that convert custom objects, by the name of the CRD; they take the place of its conversion webhook. */
  readonly conversions: Readonly<Record<string, ConvertFunction>>
}

const NO_HOSTS: HostOverrides = new Map()
export const DEFAULT_SERVICE_RANGE = '10.0.0.0/24'
const DEFAULT_PORT_RANGE = `${NODE_PORTS.from}-${NODE_PORTS.to}`

export const apiFlags = {
  'service-cluster-ip-range': text(
    '<range>',
    'the range of the addresses of services, or one of each family',
    DEFAULT_SERVICE_RANGE,
  ),
  'service-node-port-range': text('<range>', 'the range of node ports of services', DEFAULT_PORT_RANGE),
  ...versionFlags,
  'feature-gates': booleans('<gate>=true|false,…', 'features to switch on or off', 'CBORServingAndStorage=true'),
  'allow-privileged': toggle('accept privileged containers', true),
  'watch-cache': toggle('ignore the limit of a list at resourceVersion=0, as a cache that is read whole does', true),
  'runtime-config': booleans('<group/version>=true|false,…', 'API versions to switch on or off', 'apps/v1=true'),
  'proxy-client-cert-file': optionalText(
    '<file>',
    'the client certificate by which extension servers know this server, in PEM form',
  ),
  'proxy-client-key-file': optionalText('<file>', 'the key of --proxy-client-cert-file'),
  'enable-aggregator-routing': toggle('send requests to extension servers to the endpoints of their Services', true),
  'aggregator-reject-forwarding-redirect': toggle('answer 502 if an extension server redirects a request', true),
  'webhook-resolve': {
    placeholder: '<host>=<address>[:<port>]',
    about:
      'the address of a webhook or extension server that is named by a URL or a service, such as converter.default.svc=127.0.0.1:9443; may be repeated',
    initial: NO_HOSTS,
    byDefault: '',
    read: readHostOverride,
  },
} satisfies FlagTable

type Flags = FlagValues<typeof apiFlags>

export const apiFromFlags = (flags: Flags, storageMediaType: StorageMediaType): ApiOptions => ({
  ...releaseFromFlags(flags),
  storageMediaType,
  serviceRange: checkServiceRange(
    flags['service-cluster-ip-range'],
    `--service-cluster-ip-range=${flags['service-cluster-ip-range']}`,
  ),
  nodePorts: nodePortsFromFlags(flags),
  runtimeConfig: flags['runtime-config'],
  allowPrivileged: flags['allow-privileged'],
  watchCache: flags['watch-cache'],
  webhookHosts: flags['webhook-resolve'],
  proxyClient: proxyClientFromFlags(flags),
  forwardsRedirects: !flags['aggregator-reject-forwarding-redirect'],
  conversions: {},
})

/** Gates have the defaults of the emulated release. */
function releaseFromFlags(flags: Flags): Pick<ApiOptions, 'versions' | 'featureGates'> {
  const versions = versionsFromFlags(flags)
  return { versions, featureGates: gatesAtVersion(gatesOf(flags), versions) }
}

function nodePortsFromFlags({ 'service-node-port-range': given }: Flags): PortRange {
  const range = parsePortRange(given)
  if (!range)
    throw new UsageError(
      `--service-node-port-range=${given}: it must be a range of ports, such as ${DEFAULT_PORT_RANGE}`,
    )
  return range
}

function proxyClientFromFlags(flags: Flags): KeyPair | undefined {
  const { 'proxy-client-cert-file': certFile, 'proxy-client-key-file': keyFile } = flags
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined) {
    throw new UsageError('--proxy-client-cert-file and --proxy-client-key-file go together: give both or none')
  }
  const pair = {
    cert: readFlagFile('proxy-client-cert-file', certFile),
    key: readFlagFile('proxy-client-key-file', keyFile),
  }
  const error = errorOfKeyPair(pair)
  if (error !== undefined) throw new UsageError(`--proxy-client-cert-file=${certFile}: ${error}`)
  return pair
}

/** What was set without an effect; throws a UsageError for what kube-apiserver refuses. */
export function apiWarnings(flags: Flags): string[] {
  const gates = gatesOf(flags)
  checkFeatureGates(gates, versionsFromFlags(flags))
  return [...gatesWithoutEffect(gates), ...(flags['enable-aggregator-routing'] ? [] : [ALWAYS_ROUTED])]
}

const ALWAYS_ROUTED =
  '--enable-aggregator-routing=false has no effect: the addresses of Services lead nowhere here, so their endpoints are used'

/** A gate may be written with its component; this server has one. */
const gatesOf = (flags: Flags): FeatureGates =>
  Object.fromEntries(Object.entries(flags['feature-gates']).map(([gate, isOn]) => [gate.replace(/^kube:/, ''), isOn]))

function readHostOverride(given: string, before: HostOverrides): HostOverrides {
  const known = parseHostOverride(given)
  if (!known) throw new UsageError('it must be a host and its address, such as converter.default.svc=127.0.0.1:9443')
  return new Map([...before, known])
}

/** `label` names the flag or the option in the message. */
export function checkServiceRange(range: string, label: string): string {
  if (parseServiceRanges(range) !== undefined) return range
  const dual = '10.0.0.0/16,fd00::/108'
  throw new UsageError(
    `${label}: it must be a range of addresses, such as ${DEFAULT_SERVICE_RANGE}, or two of both families, such as ${dual}`,
  )
}
