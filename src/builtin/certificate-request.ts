// The PKCS #10 request inside a CertificateSigningRequest.
export * from './validation/signing-request.js'
