// The options of `startBinnacle()`. TypeScript checks their names and values where it is used; programs in JavaScript and
// options that were read from a file are checked here, so that a wrong name or value is an error and not ignored.

import { randomBytes } from 'node:crypto'
import type { AdmissionFunction } from '../../admission/functions.js'
import type { Identity } from '../../auth/authenticator.js'
import { refuseUnknownFields } from '../../base/known-fields.js'
import type { LogLine } from '../../base/logger.js'
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import { createSessions } from '../../console/sessions.js'
import type { ConvertFunction } from '../../convert/function-conversion.js'
import { checkFeatureGates, gatesAtVersion } from '../../meta/feature-gates.js'
import type { StorageOptions } from '../../storage/open-store.js'
import { type HostOverrides, parseHostOverride } from '../../webhook/host-overrides.js'
import { DEFAULT_SERVICE_ACCOUNTS } from './access/authentication.js'
import { type AuthorizationMode, checkModes } from './access/authorization.js'
import { ADMINISTRATOR } from './administrator.js'
import { checkServiceRange, DEFAULT_SERVICE_RANGE } from './api.js'
import { checkControllers, DEFAULT_CONTROLLERS } from './controllers.js'
import { DEFAULT_LOGGING } from './logging.js'
import type { ServerOptions } from './server-options.js'
import { checkAddress } from './serving.js'
import { checkEndpoint, DEFAULT_MEDIA_TYPE } from './storage.js'
import { DEFAULT_VERSIONS, emulating } from './versions.js'
import { readWorkloads, type SimulatedWorkloads } from './workloads.js'

export interface BinnacleOptions {
  /**
   * Where objects are stored: in memory, which is empty at every start; in a folder, which only one server can have open
   * at a time; or in etcd. The default is memory.
   */
  readonly storage?:
    | 'memory'
    | { readonly folder: string }
    | { readonly etcd: readonly string[]; readonly prefix?: string }
  /** The default is any free port. */
  readonly port?: number
  /** The default is `127.0.0.1`. */
  readonly address?: string
  /** Users by bearer token, beside the administrator. */
  readonly tokens?: Readonly<Record<string, { readonly name: string; readonly groups?: readonly string[] }>>
  /**
   * Who may do what: `RBAC`, the default, by the RBAC objects of the API; `AlwaysAllow`, every authenticated user may do
   * everything; `AlwaysDeny`, only members of system:masters may do anything.
   */
  readonly authorization?: Exclude<AuthorizationMode, 'Node'>
  /**
   * Whether requests without credentials are served, as system:anonymous. The default is true; with `AlwaysAllow` they
   * are always refused, because they could do everything.
   */
  readonly anonymous?: boolean
  /**
   * The controllers that run, by the names of kube-controller-manager: `*` for all, which is the default, a name to switch
   * one on, `-` and a name to switch it off: `['*', '-garbage-collector-controller']`.
   */
  readonly controllers?: readonly string[]
  /**
   * Whether nodes, a scheduler and kubelets are simulated, and the controllers of workloads run: `true`, or how:
   * `{ nodes: 5, readyAfter: '10s' }`.
   */
  readonly workloads?: boolean | SimulatedWorkloads
  /** Admission plugins to switch off, by kube-apiserver's names: `['NamespaceLifecycle']`. */
  readonly disabledAdmissionPlugins?: readonly string[]
  /**
   * Functions that change or refuse writes, in the place of webhooks: `[{ name, rules, mutate(request) { … } }]`. What
   * they were asked is in `server.admission.calls`.
   */
  readonly admission?: readonly AdmissionFunction[]
  /** The IPv4 range of the addresses of Services. The default is `10.0.0.0/24`. */
  readonly serviceRange?: string
  /** API versions to switch on or off, as by kube-apiserver's --runtime-config: `{ 'api/beta': true }`. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>
  /** The release of Kubernetes to behave as, 1.33 to 1.36: `'1.34'`. It decides on APIs, feature gates and their defaults. */
  readonly emulatedVersion?: string
  /** Feature gates to switch on or off, by kube-apiserver's names: `{ CBORServingAndStorage: true }`. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /**
   * Addresses of webhooks whose names DNS does not know: `{ 'converter.default.svc': '127.0.0.1:9443' }`. Services are
   * also found by the EndpointSlices and Endpoints that are stored for them.
   */
  readonly webhookHosts?: Readonly<Record<string, string>>
  /**
   * Functions that convert custom objects between versions, by the name of the CRD, in the place of a webhook:
   * `{ 'widgets.example.com': (object, to) => ({ ...object, apiVersion: to }) }`.
   */
  readonly conversions?: Readonly<Record<string, ConvertFunction>>
  /** Whether the console, a web page, is served at `/console/`. The default is false. */
  readonly console?: boolean
  /**
   * How much is logged: 0 errors, warnings, start and stop; 1 also slow requests; 2 every request; 4 details for
   * debugging. By default, warnings and errors are logged.
   */
  readonly verbosity?: number
  /** Receives each line of the log, which is otherwise printed on stderr. */
  readonly log?: (line: LogLine) => void
}

/**
 * The options of the server, and the bearer token that was created for the administrator. `moreNames` are options of the caller,
 * for the message about a wrong one.
 */
export function readLibraryOptions(
  options: BinnacleOptions,
  moreNames: readonly string[] = [],
): { server: ServerOptions; token: string } {
  checkNames(options, moreNames)
  for (const [name, value] of Object.entries(options)) {
    const label = typeof value === 'object' || typeof value === 'function' ? name : `${name}: ${JSON.stringify(value)}`
    if (value !== undefined) CHECKS[name as keyof BinnacleOptions](value, label)
  }
  const { address = '127.0.0.1', port = 0, tokens = {}, authorization = 'RBAC', anonymous = true, log } = options
  const token = randomBytes(24).toString('base64url')
  const versions = options.emulatedVersion === undefined ? DEFAULT_VERSIONS : emulating(options.emulatedVersion)
  const featureGates = options.featureGates ?? {}
  checkFeatureGates(featureGates, versions)
  const server: ServerOptions = {
    storage: storageOf(options),
    serving: { https: { address, port } },
    authentication: {
      tokens: new Map([[token, ADMINISTRATOR], ...Object.entries(tokens).map(identityOf)]),
      anonymous,
      serviceAccounts: DEFAULT_SERVICE_ACCOUNTS,
    },
    authorization: { modes: [authorization] },
    admission: {
      enabled: [],
      disabled: options.disabledAdmissionPlugins ?? [],
      functions: options.admission ?? [],
    },
    api: {
      serviceRange: options.serviceRange ?? DEFAULT_SERVICE_RANGE,
      runtimeConfig: options.runtimeConfig ?? {},
      versions,
      featureGates: gatesAtVersion(featureGates, versions),
      allowPrivileged: true,
      watchCache: true,
      storageMediaType: DEFAULT_MEDIA_TYPE,
      webhookHosts: hostOverrides(options.webhookHosts ?? {}),
      conversions: options.conversions ?? {},
    },
    controllers: { ...DEFAULT_CONTROLLERS, ...(options.controllers && { controllers: options.controllers }) },
    workloads: readWorkloads(options.workloads),
    limits: {},
    console: options.console ? { sessions: createSessions() } : undefined,
    logging: {
      ...DEFAULT_LOGGING,
      verbosity: options.verbosity ?? 0,
      write: log,
      quiet: options.verbosity === undefined,
    },
  }
  return { server, token }
}

type TokenOptions = NonNullable<BinnacleOptions['tokens']>

const identityOf = ([token, { name, groups = [] }]: [string, TokenOptions[string]]): [string, Identity] => [
  token,
  { name, uid: '', groups, extra: {} },
]

function storageOf({ storage = 'memory' }: BinnacleOptions): StorageOptions {
  if (storage === 'memory') return { kind: 'memory' }
  if ('folder' in storage) return { kind: 'lmdb', directory: storage.folder }
  return { kind: 'etcd', endpoints: storage.etcd, ...(storage.prefix !== undefined && { prefix: storage.prefix }) }
}

function hostOverrides(hosts: Readonly<Record<string, string>>): HostOverrides {
  return new Map(
    Object.entries(hosts).map(([host, address]) => {
      const known = parseHostOverride(`${host}=${address}`)
      if (!known) {
        throw new UsageError(
          `webhookHosts: ${host}: ${JSON.stringify(address)} is not an address such as 127.0.0.1:9443`,
        )
      }
      return known
    }),
  )
}

// ---- checks

function checkNames(options: object, moreNames: readonly string[]): void {
  const unknown = Object.keys(options).find(name => !Object.hasOwn(CHECKS, name))
  if (unknown === undefined) return
  const names = [...moreNames, ...Object.keys(CHECKS)]
  const near = nearest(unknown, names)
  const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`there is no option ${unknown}: ${hint}`)
}

/** Throws a UsageError; `label` names the option and its value. */
type Check = (value: unknown, label: string) => void

const isBoolean: Check = (value, label) => refuseUnless(typeof value === 'boolean', label, 'it must be true or false')
const isRecord: Check = (value, label) => refuseUnless(isPlainObject(value), label, 'it must be an object')

const CHECKS: { readonly [K in keyof Required<BinnacleOptions>]: Check } = {
  storage: checkStorage,
  port: (value, label) =>
    refuseUnless(isWholeNumber(value) && value <= 65_535, label, 'it must be a whole number from 0 to 65535'),
  address: (value, label) => checkAddress(String(value), label),
  tokens(value) {
    // Tokens are secrets, so no value is printed.
    isRecord(value, 'tokens')
    for (const [token, user] of Object.entries(value as object)) {
      const { name, groups = [] } = (isPlainObject(user) ? user : {}) as { name?: unknown; groups?: unknown }
      refuseUnless(typeof name === 'string' && name !== '' && token !== '', 'tokens', 'each token needs a user name')
      refuseUnless(isStrings(groups), 'tokens', 'groups must be a list of names')
      refuseUnknownFields('tokens: a user', user, ['name', 'groups'])
    }
  },
  authorization: (value, label) => {
    const hint = 'it must be "RBAC", "AlwaysAllow" or "AlwaysDeny"'
    refuseUnless(typeof value === 'string' && value !== 'Node', label, hint)
    checkModes([value as string], label)
  },
  anonymous: isBoolean,
  controllers(value, label) {
    refuseUnless(isStrings(value), label, 'it must be a list of names')
    checkControllers(value as string[], label)
  },
  // Checked where they are read.
  workloads() {},
  disabledAdmissionPlugins(value, label) {
    refuseUnless(isStrings(value), label, 'it must be a list of names')
  },
  admission(value) {
    refuseUnless(Array.isArray(value), 'admission', 'it must be a list of functions with their rules')
    for (const [i, each] of (value as unknown[]).entries()) {
      const { name, mutate, validate } = (isPlainObject(each) ? each : {}) as Partial<Record<string, unknown>>
      refuseUnless(typeof name === 'string' && name !== '', `admission[${i}]`, 'it must have a name')
      const isCallable = [mutate, validate].every(part => part === undefined || typeof part === 'function')
      const hint = 'it must have a function mutate or validate'
      refuseUnless(isCallable && (mutate ?? validate) !== undefined, `admission: ${JSON.stringify(name)}`, hint)
    }
  },
  serviceRange: (value, label) => void checkServiceRange(String(value), label),
  runtimeConfig(value, label) {
    isRecord(value, label)
    for (const each of Object.values(value as object)) isBoolean(each, label)
  },
  emulatedVersion(value, label) {
    refuseUnless(typeof value === 'string', label, "it must be a version such as '1.34'")
  },
  featureGates(value, label) {
    isRecord(value, label)
    for (const each of Object.values(value as object)) isBoolean(each, label)
  },
  webhookHosts: isRecord,
  conversions(value) {
    isRecord(value, 'conversions')
    for (const [name, convert] of Object.entries(value as object)) {
      refuseUnless(typeof convert === 'function', `conversions: ${name}`, 'it must be a function')
    }
  },
  console: isBoolean,
  verbosity: (value, label) => refuseUnless(isWholeNumber(value), label, 'it must be a whole number, 0 or more'),
  log: value => refuseUnless(typeof value === 'function', 'log', 'it must be a function'),
}

function checkStorage(value: unknown, label: string): void {
  const hint = `it must be 'memory', { folder: '/path' } or { etcd: ['http://127.0.0.1:2379'] }`
  if (value === 'memory') return
  refuseUnless(isPlainObject(value), label, hint)
  const { folder, etcd, prefix } = value as { folder?: unknown; etcd?: unknown; prefix?: unknown }
  if (etcd === undefined) {
    refuseUnless(typeof folder === 'string' && folder !== '' && prefix === undefined, label, hint)
    return
  }
  refuseUnless(isStrings(etcd) && etcd.length > 0 && folder === undefined, label, hint)
  refuseUnless(prefix === undefined || typeof prefix === 'string', label, hint)
  for (const url of etcd as string[]) checkEndpoint(url, `storage: ${JSON.stringify(url)}`)
}

function refuseUnless(isRight: boolean, label: string, hint: string): void {
  if (!isRight) throw new UsageError(`${label}: ${hint}`)
}

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(each => typeof each === 'string')

const isWholeNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
