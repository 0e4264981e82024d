// The certificates of a server, as its options want them.
import type { ServerOptions } from '../../options/server-options.js'
import type { ShareAuthority } from '../../tls/certificates.js'
import { hostsOf, prepareTls, type Tls } from '../../tls/tls.js'
import { firstAddress } from '../system-objects/bootstrap.js'

/** Undefined where only plain http is served. */
export async function prepareServerTls(options: ServerOptions, share?: ShareAuthority): Promise<Tls | undefined> {
  const { authentication, serving } = options
  const { https } = serving
  if (!https) return undefined
  const authorities = { clientCa: authentication.clientCa, proxyCa: authentication.requestHeader?.ca }
  const published = [serving.advertiseAddress, serving.externalHostname].filter(each => each !== undefined)
  const hosts = hostsOf(https.address, firstAddress(options.api.serviceRange), published)
  return prepareTls(https, authorities, hosts, share)
}
