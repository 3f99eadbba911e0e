/** The person's own machine, and RFC 1918, 100.64/10, fc00::/7: the person's own network. */
const OWN =
  /^(?:(?:.*\.)?localhost$|127\.|\[::1\]$|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[f[cd])/

const HOST = /^http:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^:/?#]+)/

/** Whether a key that is sent there crosses a network that is not the person's own, for all to read on the way. */
export function isPlaintextAcrossNetwork(address: string): boolean {
  const host = HOST.exec(address.trim().toLowerCase())?.[1]
  return host !== undefined && !OWN.test(host)
}
