// Where objects are stored.

import { join } from 'node:path'
import { homeDirectory } from '../../base/files/home-directory.js'
import { UsageError } from '../../base/usage-error.js'
import type { EtcdOverride, StorageOptions } from '../../storage/open-store.js'
import { parseEncryptionConfiguration } from '../encryption/configuration.js'
import type { EncryptionOptions } from '../encryption/encryption.js'
import type { FlagTable, FlagValues } from './flag.js'
import { readFlagFile, readOptionalFile } from './flag-files.js'
import { choice, duration, list, optionalText, text, toggle } from './flag-values.js'

export type StorageMediaType = 'application/vnd.kubernetes.protobuf' | 'application/json'

export const DEFAULT_MEDIA_TYPE: StorageMediaType = 'application/vnd.kubernetes.protobuf'

/** How long a start waits for etcd. */
export const START_TIMEOUT_MS = 60_000

export const storageFlags = {
  'data-dir': text(
    '<folder>',
    'the folder of this server: store/ for objects, pki/ for certificates, and the file kubeconfig',
    join(homeDirectory(), '.binnacle'),
  ),
  storage: {
    ...choice<'lmdb' | 'memory' | 'etcd'>(['lmdb', 'memory', 'etcd'], 'where objects are stored', undefined),
    byDefault: 'lmdb, or etcd with --etcd-servers',
  },
  'unsafe-no-fsync': toggle(
    'with --storage=lmdb: acknowledge writes before they are on disk; for tests, because a crash of the machine loses them',
    false,
  ),
  'etcd-servers': list('<urls>', 'etcd endpoints, separated by commas'),
  'etcd-servers-overrides': list(
    '<group>/<resource>#<urls>',
    'etcd endpoints, separated by semicolons, for the objects of one resource, such as /events#http://127.0.0.1:2479; may be repeated',
  ),
  'etcd-prefix': text('<prefix>', 'the beginning of every key in etcd', '/registry'),
  'etcd-cafile': optionalText('<file>', 'the certificate authority of the etcd servers'),
  'etcd-certfile': optionalText('<file>', 'the client certificate for etcd'),
  'etcd-keyfile': optionalText('<file>', 'the key of --etcd-certfile'),
  'etcd-compaction-interval': duration(
    'how long etcd keeps the history of writes before this server compacts it; 0 leaves compaction to others',
    300_000,
  ),
  'etcd-start-timeout': duration(
    'how long a start waits for etcd to answer before it ends with an error; 0 ends it at the first error',
    START_TIMEOUT_MS,
  ),
  'storage-media-type': choice<StorageMediaType>(
    ['application/vnd.kubernetes.protobuf', 'application/json'],
    'how built-in objects are encoded in etcd; objects of CRDs are JSON, or CBOR with CBORServingAndStorage',
    DEFAULT_MEDIA_TYPE,
  ),
  'encryption-provider-config': optionalText(
    '<file>',
    'an EncryptionConfiguration: which resources are encrypted in the store, and how',
  ),
  'encryption-provider-config-automatic-reload': toggle(
    'read the file of --encryption-provider-config again when it changes',
    false,
  ),
} satisfies FlagTable

type Flags = FlagValues<typeof storageFlags>

export function storageFromFlags(flags: Flags): StorageOptions {
  const { 'etcd-servers': servers, 'etcd-servers-overrides': overrides } = flags
  switch (flags.storage ?? (servers.length > 0 ? 'etcd' : 'lmdb')) {
    case 'memory':
      return { kind: 'memory' }
    case 'lmdb':
      return { kind: 'lmdb', directory: join(flags['data-dir'], 'store'), noSync: flags['unsafe-no-fsync'] }
    case 'etcd':
      for (const url of servers) checkEndpoint(url, `--etcd-servers=${url}`)
      return {
        kind: 'etcd',
        endpoints: servers.length > 0 ? servers : ['http://127.0.0.1:2379'],
        ...(overrides.length > 0 && { overrides: overrides.map(parseOverride) }),
        prefix: flags['etcd-prefix'],
        historyMs: flags['etcd-compaction-interval'],
        startTimeoutMs: flags['etcd-start-timeout'],
        ...etcdTls(flags),
      }
  }
}

/** Undefined: objects are stored in the clear. */
export function encryptionFromFlags(flags: Flags): EncryptionOptions | undefined {
  const path = flags['encryption-provider-config']
  const automaticReload = flags['encryption-provider-config-automatic-reload']
  if (path === undefined) {
    if (!automaticReload) return undefined
    throw new UsageError('--encryption-provider-config-automatic-reload must be set with --encryption-provider-config')
  }
  const given = readFlagFile('encryption-provider-config', path)
  try {
    return { path, text: given, automaticReload, configuration: parseEncryptionConfiguration(Buffer.from(given)) }
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--encryption-provider-config=${path}: ${error.message}`) : error
  }
}

/** `label` names the flag or the option in the message. */
export function checkEndpoint(url: string, label: string): void {
  if (/^(https?:\/\/[^/]+|unix:\/\/\/.+)$/.test(url) && URL.canParse(url)) return
  throw new UsageError(`${label}: an endpoint is a URL such as http://127.0.0.1:2379 or unix:///run/etcd.sock`)
}

/** `group/resource#url;url`. The core group is empty. */
function parseOverride(given: string): EtcdOverride {
  const [, group, resource, servers] = /^([^/#]*)\/([^/#]*)#([^#]*)$/.exec(given) ?? []
  const endpoints = servers?.split(';') ?? []
  if (group === undefined || resource === undefined || endpoints.length === 0 || endpoints.includes('')) {
    throw new UsageError(
      '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated',
    )
  }
  for (const url of endpoints) checkEndpoint(url, `--etcd-servers-overrides=${given}`)
  return { group, resource, endpoints }
}

function etcdTls(flags: Flags) {
  const ca = readOptionalFile('etcd-cafile', flags['etcd-cafile'])
  const cert = readOptionalFile('etcd-certfile', flags['etcd-certfile'])
  const key = readOptionalFile('etcd-keyfile', flags['etcd-keyfile'])
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-certfile and --etcd-keyfile go together: give both or none')
  }
  if (ca === undefined && cert === undefined) return {}
  return {
    tls: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) },
  }
}

/** Flags of etcd that were given although objects are stored elsewhere. */
export const storageWarnings = (storage: StorageOptions, given: ReadonlySet<string>): string[] =>
  storage.kind === 'etcd'
    ? []
    : [...given]
        .filter(name => name.startsWith('etcd-'))
        .map(name => `--${name} has no effect: objects are not stored in etcd`)

/** Where objects are stored, for the line that says that the server is ready. */
export function describeStorage(storage: StorageOptions): string {
  switch (storage.kind) {
    case 'memory':
      return 'in memory only'
    case 'lmdb':
      return `in ${storage.directory}`
    case 'etcd':
      return `in etcd at ${storage.endpoints.join(', ')}`
  }
}
