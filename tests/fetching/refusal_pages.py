"""Small pages written after public descriptions: what content networks send in place of a page, and customers'.

Each vendor has a challenge or a block, and beside it an ordinary page of a customer with what the vendor puts
into every page: its beacons, sensors and widgets.
"""

from __future__ import annotations

SHOP = """<nav><a href="/">Home</a> <a href="/lamps">Lamps</a> <a href="/chairs">Chairs</a></nav>
<h1>Oak lamps</h1><p>Lamps of oak, turned by hand in a small workshop by the sea, with linen shades in six
colours. Each is oiled twice and comes with a bulb of four watts.</p><p>Write to us for other sizes.</p>"""


def customer(head: str, body: str = SHOP) -> bytes:
    return (
        f"<!doctype html><html><head><title>Oak lamps</title>{head}</head><body>{body}</body></html>".encode()
    )


CHALLENGES: dict[str, bytes] = {
    "Cloudflare": b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"></head><body><div class="main-wrapper"><noscript>
<span id="challenge-error-text">Enable JavaScript and cookies to continue</span></noscript></div>
<script>(function(){window._cf_chl_opt={cvId:'3',cType:'managed'};var a=document.createElement('script');
a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8';})();</script></body></html>""",
    "Akamai": b"""<HTML><HEAD>
<TITLE>Access Denied</TITLE>
</HEAD><BODY>
<H1>Access Denied</H1>
You don't have permission to access "http&#58;&#47;&#47;shop&#46;example&#47;" on this server.<P>
Reference&#32;&#35;18&#46;a1b2c3&#46;1700000000&#46;1a2b3c
<P>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;18&#46;a1b2c3</P></BODY></HTML>""",
    "DataDome": b"""<html lang="en"><head><title>shop.example</title><style>#cmsg{animation: A 1.5s}</style></head>
<body style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">
var dd={'rt':'c','cid':'AHrl','hsh':'A55F','t':'bv','s':1,'host':'geo.captcha-delivery.com'}</script>
<script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script></body></html>""",
    "Imperva": b"""<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head>
<body style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1"
width="100%">Request unsuccessful. Incapsula incident ID: 123000-456</iframe></body></html>""",
    "HUMAN": b"""<!DOCTYPE html><html lang="en"><head><title>Access to this page has been denied</title></head>
<body><div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>
<script>window._pxAppId='PXabcd1234';window._pxHostUrl='/abcd1234/xhr';</script>
<script src="/abcd1234/captcha/captcha.js?a=c&m=0"></script><p>Reference ID 1b2c</p></body></html>""",
    "AWS WAF": b"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title></title><script>
window.awsWafCookieDomainList = [];window.gokuProps = {"key":"AQIDAHj","iv":"CgAH","context":"d1"};</script>
<script src="https://ab12.cd34.eu-west-1.token.awswaf.com/ab12/challenge.js"></script></head><body>
<div id="challenge-container"></div><script>AwsWafIntegration.saveReferrer();</script>
<noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot.
This requires JavaScript. Enable JavaScript and then reload the page.</noscript></body></html>""",
    "Sucuri": b"""<html><title>You are being redirected...</title>
<noscript>Javascript is required. Please enable javascript before you are allowed to see this page.</noscript>
<script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='',S='bz0i';</script></html>""",
    "reCAPTCHA": b"""<html><head><title>One moment</title></head><body><h1>Security check</h1>
<form action="/verify" method="post"><p>Tick the box to show that you are not a robot.</p>
<div class="g-recaptcha" data-sitekey="6Lc"></div><button>Go on</button></form>
<script src="https://www.google.com/recaptcha/api.js"></script></body></html>""",
    "hCaptcha": b"""<html><head><title>shop.example</title></head><body><p>Please confirm that you are human.</p>
<form method="post"><div class="h-captcha" data-sitekey="10000000-ffff"></div></form>
<script src="https://js.hcaptcha.com/1/api.js" async defer></script></body></html>""",
    "Anubis": b"""<!doctype html><html lang="en"><head><title>Making sure you're not a bot!</title></head><body>
<p id="status">Loading...</p><script id="anubis_challenge" type="application/json">{"rules":{"difficulty":4}}</script>
<p>You are seeing this because the owner of this website has set up Anubis.</p></body></html>""",
}

ORDINARY: dict[str, bytes] = {
    "Cloudflare": customer(
        '<script defer src="https://static.cloudflareinsights.com/beacon.min.js"></script>',
        SHOP
        + "<script>(function(){window['__CF$cv$params']={r:'8',t:'MTc'};var a=document.createElement('script');"
        "a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';})();</script>"
        '<form><input name="q"><div class="cf-turnstile" data-sitekey="0x4A"></div></form>',
    ),
    "Akamai": customer(
        "<script>!function(){window.BOOMR_API_key='ABCD';var s='https://s.go-mpulse.net/boomerang/'}();</script>",
        SHOP + '<script type="text/javascript" src="/akam/13/5f2c1a"></script><noscript><img'
        ' src="/akam/13/pixel_5f2c1a?a=dD0x" style="visibility:hidden"></noscript><script'
        ' src="/Xy1z/Ab2/c3/bmak.js"></script>',
    ),
    "DataDome": customer(
        "<script>window.ddjskey='ABC123';window.ddoptions={ajaxListenerPath:true};</script>"
        '<script src="https://js.datadome.co/tags.js" async></script>'
        '<link rel="preconnect" href="https://geo.captcha-delivery.com">',
    ),
    "Imperva": customer(
        '<script type="text/javascript" src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3&ns=1">'
        "</script>",
    ),
    "HUMAN": customer(
        "<script>window._pxAppId='PXabcd1234';window._pxJsClientSrc='/abcd1234/init.js';</script>"
        '<script src="//client.px-cloud.net/PXabcd1234/main.min.js" async></script>',
    ),
    "AWS WAF": customer(
        '<script src="https://ab12.edge.sdk.awswaf.com/ab12/challenge.compact.js" defer></script>',
        SHOP + "<script>AwsWafIntegration.fetch('/api/stock')</script>",
    ),
    "Sucuri": customer(
        "",
        SHOP + '<a href="https://sitecheck.sucuri.net/"><img src="/badge.png" alt="Protected by Sucuri"></a>',
    ),
    "reCAPTCHA": customer(
        '<script src="https://www.google.com/recaptcha/api.js"></script>',
        '<h1>Contact</h1><form method="post"><label>Your address <input type="email" name="mail"></label>'
        "<label>Message <textarea name='text'></textarea></label><p>Show that you are not a robot.</p>"
        '<div class="g-recaptcha" data-sitekey="6Lc"></div></form>',
    ),
    "hCaptcha": customer(
        '<script src="https://js.hcaptcha.com/1/api.js" async defer></script>',
        '<h1>Log in</h1><form><input name="user"><input type="password" name="word"><p>Are you human?'
        " We are human too: you are human.</p><div class='h-captcha' data-sitekey='1'></div></form>",
    ),
    "Anubis": customer("", SHOP + "<p>We run Anubis, which asks programs to work for a page.</p>"),
}
