// What the flags of `binnacle serve` come to: everything that a server needs to start, or one line on what is wrong.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Identity } from '../../auth/authenticator.js'
import { parseTokenFile } from '../../auth/authenticator.js'
import type { ServerOptions } from '../../server/server.js'
import { type CertificateOptions, errorOfKeyPair } from '../../server/tls.js'
import type { StorageOptions } from '../../storage/open-store.js'
import { parseFlags } from '../flags/flags.js'
import { nearest } from '../flags/nearest.js'
import { UsageError } from '../flags/usage-error.js'
import { admissionPlugins, kubeFlags } from './kube-flags.js'
import { type ServeFlags, serveFlags } from './serve-flags.js'

export interface ServePlan {
  readonly server: ServerOptions
  /** What was said that has no effect. */
  readonly warnings: readonly string[]
  /** Where objects are kept, in words. */
  readonly whereabouts: string
  /** The file for the administrator's kubeconfig, and one to which it is added. */
  readonly kubeconfig: string
  readonly mergeInto: string | undefined
  /** The administrator's token, where there is no other way in. */
  readonly token: string | undefined
}

export function readServeOptions(args: readonly string[]): ServePlan {
  const { values: flags, given, ignored } = parseFlags(args, serveFlags, kubeFlags())
  if (!flags.https && flags['http-port'] === undefined) {
    throw new UsageError('--https=false leaves nothing to serve; give --http-port as well')
  }
  const storage = storageOf(flags)
  const tokens = tokensOf(flags)
  const token = flags.https ? undefined : addAdminToken(tokens)
  return {
    server: {
      storage,
      https: flags.https ? httpsOf(flags) : undefined,
      http: flags['http-port'] === undefined ? undefined : { port: flags['http-port'] },
      tokens,
      anonymous: flags['anonymous-auth'],
      authorization: authorizationOf(flags),
      serviceRange: serviceRangeOf(flags),
      runtimeConfig: flags['runtime-config'],
      disabledPlugins: pluginsOf(flags, 'disable-admission-plugins'),
      webhookHosts: flags['webhook-resolve'],
      garbageCollection: flags['enable-garbage-collector'],
      namespaceController: flags['enable-namespace-controller'],
      limits: {
        maxReading: flags['max-requests-inflight'],
        maxMutating: flags['max-mutating-requests-inflight'],
        requestTimeoutMs: flags['request-timeout'],
      },
      minRequestTimeoutMs: flags['min-request-timeout'] * 1000,
      notice: text => console.error(`binnacle: ${text}`),
    },
    warnings: [
      ...ignored.map(name => `--${name} has no effect: there is nothing here that needs it`),
      ...warningsOf(flags, given),
    ],
    whereabouts: whereabouts(storage),
    kubeconfig: flags['kubeconfig-out'] ?? join(flags['data-dir'], 'kubeconfig'),
    mergeInto: flags['merge-kubeconfig'] ? usersKubeconfig() : undefined,
    token,
  }
}

// ---- storage

function storageOf(flags: ServeFlags): StorageOptions {
  const servers = flags['etcd-servers']
  const kind = flags.storage ?? (servers.length > 0 ? 'etcd' : 'lmdb')
  switch (kind) {
    case 'memory':
      return { kind }
    case 'lmdb':
      return { kind, directory: join(flags['data-dir'], 'store') }
    case 'etcd':
      return {
        kind,
        endpoints: servers.length > 0 ? servers.map(checkEndpoint) : ['http://127.0.0.1:2379'],
        prefix: flags['etcd-prefix'],
        ...etcdTls(flags),
      }
  }
}

function checkEndpoint(url: string): string {
  if (/^https?:\/\/[^/]+$/.test(url) && URL.canParse(url)) return url
  throw new UsageError(`--etcd-servers=${url}: an endpoint is a URL such as http://127.0.0.1:2379`)
}

function etcdTls(flags: ServeFlags) {
  const ca = readFlagFile(flags, 'etcd-cafile')
  const cert = readFlagFile(flags, 'etcd-certfile')
  const key = readFlagFile(flags, 'etcd-keyfile')
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-certfile and --etcd-keyfile go together: give both or none')
  }
  if (ca === undefined && cert === undefined) return {}
  return {
    tls: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
  }
}

function whereabouts(storage: StorageOptions): string {
  switch (storage.kind) {
    case 'memory':
      return 'in memory only'
    case 'lmdb':
      return `in ${storage.directory}`
    case 'etcd':
      return `in etcd at ${storage.endpoints.join(', ')}`
  }
}

// ---- https

function httpsOf(flags: ServeFlags): ServerOptions['https'] {
  const address = flags['bind-address']
  if (isIP(address) === 0) {
    throw new UsageError(`--bind-address=${address}: it must be an IP address, such as 127.0.0.1, or 0.0.0.0 for all`)
  }
  return { address, port: flags['secure-port'], certificates: certificatesOf(flags) }
}

function certificatesOf(flags: ServeFlags): CertificateOptions {
  const folder = flags['cert-dir'] ?? join(flags['data-dir'], 'pki')
  const clientCa = readFlagFile(flags, 'client-ca-file')
  if (clientCa !== undefined && !clientCa.includes('-----BEGIN CERTIFICATE-----')) {
    throw new UsageError(`--client-ca-file=${flags['client-ca-file']}: there is no certificate in PEM form in it`)
  }
  return { folder, clientCa, serving: servingOf(flags, folder) }
}

function servingOf(flags: ServeFlags, folder: string): CertificateOptions['serving'] {
  const certFile = flags['tls-cert-file']
  const keyFile = flags['tls-private-key-file']
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file go together: give both or none')
  }
  if (certFile !== undefined && keyFile !== undefined) {
    return checkPair(
      certFile,
      keyFile,
      readFlagFile(flags, 'tls-cert-file')!,
      readFlagFile(flags, 'tls-private-key-file')!,
    )
  }
  // By these names kube-apiserver looks for a certificate in its folder.
  const [cert, key] = [join(folder, 'apiserver.crt'), join(folder, 'apiserver.key')]
  if (!existsSync(cert) || !existsSync(key)) return undefined
  return checkPair(cert, key, readFileSync(cert, 'utf8'), readFileSync(key, 'utf8'))
}

function checkPair(certFile: string, keyFile: string, cert: string, key: string) {
  const error = errorOfKeyPair({ cert, key })
  if (error !== undefined) {
    throw new UsageError(`${certFile} and ${keyFile} are not a certificate and its key in PEM form: ${error}`)
  }
  return { cert, key }
}

// ---- who may do what

function tokensOf(flags: ServeFlags): Map<string, Identity> {
  const text = readFlagFile(flags, 'token-auth-file')
  if (text === undefined) return new Map()
  try {
    return parseTokenFile(text)
  } catch (error) {
    throw new UsageError(`--token-auth-file=${flags['token-auth-file']}: ${messageOf(error)}`)
  }
}

/** A client certificate proves nothing over plain http: where that is all there is, a token does. */
function addAdminToken(tokens: Map<string, Identity>): string {
  const token = randomBytes(24).toString('base64url')
  tokens.set(token, { name: 'kubernetes-admin', uid: '', groups: ['system:masters'], extra: {} })
  return token
}

function authorizationOf(flags: ServeFlags): 'RBAC' | 'AlwaysAllow' {
  // There are no nodes whose requests would have to be judged.
  const modes = flags['authorization-mode'].filter(mode => mode !== 'Node')
  const unknown = modes.find(mode => mode !== 'RBAC' && mode !== 'AlwaysAllow')
  if (unknown !== undefined || modes.length === 0) {
    throw new UsageError(
      `--authorization-mode=${flags['authorization-mode'].join(',')}: it must be RBAC or AlwaysAllow`,
    )
  }
  return modes.includes('AlwaysAllow') ? 'AlwaysAllow' : 'RBAC'
}

function serviceRangeOf(flags: ServeFlags): string {
  const range = flags['service-cluster-ip-range']
  const [address = '', bits = '', ...more] = range.split('/')
  if (isIP(address) === 4 && /^[0-9]+$/.test(bits) && Number(bits) <= 30 && more.length === 0) return range
  throw new UsageError(`--service-cluster-ip-range=${range}: it must be a range of IPv4 addresses, such as 10.0.0.0/24`)
}

// ---- what has no effect

/** Plugins that there are; the others of kube-apiserver are taken by name. */
const PLUGINS = new Set([
  'NamespaceLifecycle',
  'LimitRanger',
  'TaintNodesByCondition',
  'Priority',
  'DefaultTolerationSeconds',
  'StorageObjectInUseProtection',
  'RuntimeClass',
])
/** Feature gates of what is always on here. */
const FEATURES = new Set(['CBORServingAndStorage', 'AllowUnsafeMalformedObjectDeletion', 'StorageVersionMigrator'])

function pluginsOf(flags: ServeFlags, flag: 'enable-admission-plugins' | 'disable-admission-plugins') {
  const known = admissionPlugins()
  for (const name of flags[flag]) {
    if (known.has(name)) continue
    const near = nearest(name, known)
    throw new UsageError(
      `--${flag}=${name}: there is no such plugin${near === undefined ? '' : `; did you mean ${near}?`}`,
    )
  }
  return flags[flag]
}

function warningsOf(flags: ServeFlags, given: ReadonlySet<string>): string[] {
  const plugins = pluginsOf(flags, 'enable-admission-plugins').filter(name => !PLUGINS.has(name))
  const gates = Object.entries(flags['feature-gates'])
  const unknown = gates.flatMap(([gate]) => (FEATURES.has(gate) ? [] : gate))
  const fixed = gates.flatMap(([gate, isOn]) => (FEATURES.has(gate) && !isOn ? gate : []))
  const isOnEtcd = flags.storage === 'etcd' || (flags.storage === undefined && flags['etcd-servers'].length > 0)
  const etcdFlags = isOnEtcd ? [] : [...given].filter(name => name.startsWith('etcd-'))
  return [
    ...(plugins.length > 0 ? [`--enable-admission-plugins: ${plugins.join(', ')} is not there and has no effect`] : []),
    ...(unknown.length > 0 ? [`--feature-gates: ${unknown.join(', ')} has no effect here`] : []),
    ...(fixed.length > 0 ? [`--feature-gates: ${fixed.join(', ')} is always on`] : []),
    ...etcdFlags.map(name => `--${name} has no effect: objects are not kept in etcd`),
    ...(flags['anonymous-auth'] && authorizationOf(flags) === 'AlwaysAllow' ? [ANONYMOUS_OFF] : []),
  ]
}

const ANONYMOUS_OFF =
  '--authorization-mode=AlwaysAllow switches --anonymous-auth off: who does not prove who they are could do everything'

// ---- files

type FileFlag = 'client-ca-file' | 'token-auth-file' | 'etcd-cafile' | 'etcd-certfile' | 'etcd-keyfile' | TlsFlag
type TlsFlag = 'tls-cert-file' | 'tls-private-key-file'

function readFlagFile(flags: ServeFlags, flag: FileFlag): string | undefined {
  const path = flags[flag]
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--${flag}=${path}: the file cannot be read: ${messageOf(error)}`)
  }
}

/** Of several files in $KUBECONFIG, kubectl too changes the first. */
const usersKubeconfig = (): string =>
  process.env['KUBECONFIG']?.split(delimiter).find(Boolean) ?? join(homedir(), '.kube', 'config')

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
