// The names that kube-apiserver gives to versions, cipher suites and curves of TLS, as OpenSSL knows them.
import { getCiphers, type SecureVersion } from 'node:tls'
import { UsageError } from '../../base/usage-error.js'

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

export function tlsVersion(name: string): SecureVersion {
  const version = Object.hasOwn(VERSIONS, name) ? VERSIONS[name] : undefined
  if (version === undefined) {
    throw new UsageError(`unknown tls version "${name}"; it must be one of ${Object.keys(VERSIONS).join(', ')}`)
  }
  return version
}

/** Suites of TLS 1.3 cannot be chosen in Go, so they are always on. */
const TLS13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']

/** The cipher list for OpenSSL. */
export function cipherList(suites: readonly string[]): string {
  const older = suites.filter(suite => !TLS13.includes(suite)).map(opensslName)
  return [...TLS13, ...older].join(':')
}

const SUITE =
  /^TLS_(?:(ECDHE)_)?(ECDSA|RSA)_WITH_(AES_(?:128|256)_(?:CBC|GCM)|CHACHA20_POLY1305)(?:_(SHA|SHA256|SHA384))?$/

function opensslName(suite: string): string {
  const [, exchange, signature = '', cipher = '', hash = ''] = SUITE.exec(suite) ?? []
  const name = cipher.startsWith('CHACHA20')
    ? `${exchange}-${signature}-CHACHA20-POLY1305`
    : [
        ...(exchange ? [exchange, signature] : []),
        cipher.replace('AES_', 'AES').replace('_CBC', '').replace('_', '-'),
        hash,
      ].join('-')
  if (!getCiphers().includes(name.toLowerCase())) {
    throw new UsageError(`Cipher suite ${suite} not supported or doesn't exist`)
  }
  return name
}

/** By the numbers of Go's crypto/tls.CurveID. */
const CURVES: Readonly<Record<string, string>> = { 23: 'P-256', 24: 'P-384', 25: 'P-521', 29: 'X25519' }

/** The list of curves for OpenSSL. */
export function curveList(ids: readonly string[]): string {
  return ids
    .map(id => {
      if (Object.hasOwn(CURVES, id)) return CURVES[id]
      throw new UsageError(`there is no curve ${id} here; there are 23 (P-256), 24 (P-384), 25 (P-521) and 29 (X25519)`)
    })
    .join(':')
}
