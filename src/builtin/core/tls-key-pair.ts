// Whether a certificate and a private key in PEM form belong together, with the messages of Go's TLS library.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { pemBlocks } from '../../base/pem.js'

/** The reason why the two cannot be used together; undefined if they can. */
export function keyPairError(certificatePem: Buffer, keyPem: Buffer): string | undefined {
  const certificates = pemBlocks(certificatePem.toString('latin1'))
  const certificate = certificates.find(({ label }) => label === 'CERTIFICATE')
  if (certificate === undefined) return noCertificate(certificates.map(({ label }) => label))
  const keys = pemBlocks(keyPem.toString('latin1'))
  const key = keys.find(({ label }) => /(^| )PRIVATE KEY$/.test(label))
  if (key === undefined) return noKey(keys.map(({ label }) => label))
  const publicKey = attempt(() => new X509Certificate(certificate.content).publicKey)
  if (publicKey === undefined) return 'x509: malformed certificate'
  const privateKey = parsePrivateKey(key.content)
  if (privateKey === undefined) return 'tls: failed to parse private key'
  if (privateKey.asymmetricKeyType !== publicKey.asymmetricKeyType) {
    return 'tls: private key type does not match public key type'
  }
  return createPublicKey(privateKey).equals(publicKey) ? undefined : 'tls: private key does not match public key'
}

function noCertificate(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (skipped.length === 1 && skipped[0]!.endsWith('PRIVATE KEY')) {
    const found = 'but did find a private key; PEM inputs may have been switched'
    return `tls: failed to find certificate PEM data in certificate input, ${found}`
  }
  const after = `after skipping PEM blocks of the following types: [${skipped.join(' ')}]`
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input ${after}`
}

function noKey(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input'
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  }
  const after = `after skipping PEM blocks of the following types: [${skipped.join(' ')}]`
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input ${after}`
}

/** The label of the PEM block does not say how the key is encoded: Go tries the three encodings in turn. */
function parsePrivateKey(der: Buffer): KeyObject | undefined {
  for (const type of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    const key = attempt(() => createPrivateKey({ key: der, format: 'der', type }))
    if (key !== undefined) return key
  }
  return undefined
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
