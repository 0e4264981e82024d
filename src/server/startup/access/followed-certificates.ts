// Certificates of the user that are read again when their files change: those that the server presents, and the
// authorities of clients and of an authenticating proxy. Files that hold none change nothing.
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { watchFiles } from '../../../base/files/watch-files.js'
import type { Logger } from '../../../base/logger.js'
import type { TlsCertificates } from '../../../http/listener.js'
import type { AuthenticationOptions } from '../../options/access/authentication.js'
import type { HttpsOptions } from '../../options/serving.js'
import { readKeyPair } from '../../tls/key-pair.js'
import { joinPem, namedCertificates, type Tls } from '../../tls/tls.js'
import { type Authorities, certificatesOf } from './client-certificates.js'

export interface CertificateUsers {
  setCertificates(certificates: TlsCertificates): void
  /** Called when the authorities are others than before. */
  trust(authorities: Authorities): void
}

interface Certificates {
  readonly tls: TlsCertificates
  readonly authorities: Authorities
}

/** Undefined if there are no files to follow. */
export function followCertificates(
  https: HttpsOptions,
  authentication: AuthenticationOptions,
  started: Tls,
  users: CertificateUsers,
  log: Logger,
): { stop(): void } | undefined {
  const { keyPairFiles, named = [] } = https
  const { clientCaFile, requestHeader } = authentication
  const pairs = [...(keyPairFiles ? [keyPairFiles] : []), ...named.map(({ files }) => files)]
  const authorityFiles = [clientCaFile, requestHeader?.caFile].filter(file => file !== undefined)
  const files = [...pairs.flatMap(({ certFile, keyFile }) => [certFile, keyFile]), ...authorityFiles]
  if (files.length === 0) return undefined

  async function read(): Promise<Certificates> {
    const clientCa = clientCaFile === undefined ? started.clientCa : await readAuthorities(clientCaFile)
    const { ca = '', caFile } = requestHeader ?? {}
    const proxyCa = caFile === undefined ? ca : await readAuthorities(caFile)
    const { cert, key } = keyPairFiles ? readKeyPair(keyPairFiles) : started.options
    const tls = { cert, key, named: namedCertificates(named), clientCa: joinPem(clientCa, proxyCa) }
    return { tls, authorities: { clientCa, proxyCa } }
  }

  const { cert, key, clientCa } = started.options
  let current: Certificates = {
    tls: { cert, key, named: started.options.named, clientCa },
    authorities: { clientCa: started.clientCa, proxyCa: requestHeader?.ca ?? '' },
  }
  let running = Promise.resolve()

  async function reload(): Promise<void> {
    try {
      const found = await read()
      if (isDeepStrictEqual(found, current)) return
      users.setCertificates(found.tls)
      if (!isDeepStrictEqual(found.authorities, current.authorities)) users.trust(found.authorities)
      current = found
      log.info('certificates were read again', { files })
    } catch (error) {
      log.error('certificates stay as they were, because a file is missing or not valid', { files, error })
    }
  }

  return watchFiles(files, () => {
    running = running.then(reload)
  })
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  if (certificatesOf(text).length === 0) throw new Error(`${path} contains no certificate in PEM form`)
  return text
}
