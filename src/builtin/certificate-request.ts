// The PKCS #10 request inside a CertificateSigningRequest.
export * from './certificates/csr-parser.js'
