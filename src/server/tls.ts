// Serving certificates.
export * from './tls/tls.js'
