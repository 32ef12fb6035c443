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

FURTHER: list[tuple[str, bytes]] = [
    (
        "Cloudflare",
        b'<!DOCTYPE html><!--[if lt IE 7]> <html class="no-js ie6 oldie" lang="en-US"> <![endif]--><html class="no'
        b'-js" lang="en-US"><head><title>Attention Required! | Cloudflare</title><meta name="robots" content="noin'
        b'dex, nofollow" /><link rel="stylesheet" id="cf_styles-css" href="/cdn-cgi/styles/cf.errors.css" /></head'
        b'><body><div id="cf-wrapper"><div class="cf-alert cf-alert-error cf-cookie-error" id="cookie-alert" data-'
        b'translate="enable_cookies">Please enable cookies.</div><div id="cf-error-details" class="cf-error-detail'
        b's-wrapper"><div class="cf-wrapper cf-header cf-error-overview"><h1 data-translate="block_headline">Sorry'
        b', you have been blocked</h1><h2 class="cf-subheadline"><span data-translate="unable_to_access">You are u'
        b'nable to access</span> shop.example</h2></div><div class="cf-section cf-wrapper"><h2 data-translate="blo'
        b'cked_why_headline">Why have I been blocked?</h2><p data-translate="blocked_why_detail">This website is u'
        b"sing a security service to protect itself from online attacks. The action you just performed triggered t"
        b"he security solution. There are several actions that could trigger this block including submitting a cer"
        b"tain word or phrase, a SQL command or malformed data.</p><h2>What can I do to resolve this?</h2><p>You c"
        b"an email the site owner to let them know you were blocked. Please include what you were doing when this "
        b'page came up and the Cloudflare Ray ID found at the bottom of this page.</p></div><div class="cf-error-f'
        b'ooter"><p>Cloudflare Ray ID: <strong>8</strong> Your IP: address Performance &amp; security by <a href="'
        b'https://www.cloudflare.com/5xx-error-landing">Cloudflare</a></p></div></div></div></body></html>',
    ),
    (
        "Cloudflare",
        b'<!DOCTYPE html><html lang="en-US"><head><title>Access denied | shop.example used Cloudflare to restrict '
        b'access</title><link rel="stylesheet" href="/cdn-cgi/styles/main.css"/></head><body><div id="cf-wrapper">'
        b'<div id="cf-error-details"><h1>Error 1015</h1><p>You are being rate limited</p><p>The owner of this webs'
        b"ite (shop.example) has banned you temporarily from accessing this website.</p></div></div></body></html>",
    ),
    (
        "Cloudflare",
        b'<html><head><title>Verify</title><script src="https://challenges.cloudflare.com/turnstile/v0/api.js" asy'
        b"nc defer></script></head><body><h1>Verifying you are human</h1><p>This may take a few seconds.</p><form "
        b'action="/verify" method="POST"><div class="cf-turnstile" data-sitekey="x" data-callback="ok"></div></for'
        b"m></body></html>",
    ),
    (
        "Akamai",
        b'<html><head><meta http-equiv="refresh" content="5; URL=\'/?bm-verify=AAQAAAAJ_____x\'" /></head><body><ifr'
        b'ame style="display:none"></iframe><noscript>Please enable JavaScript</noscript><script>var i=1;var j=i+N'
        b'umber("1"+"2");var xhr=new XMLHttpRequest();xhr.open("POST","/_sec/verify?provider=interstitial",false);'
        b'xhr.send(JSON.stringify({"bm-verify":"AA","pow":j}))</script></body></html>',
    ),
    (
        "Akamai",
        b'<!DOCTYPE html><html lang="en"><head><title>Challenge Validation</title><link rel="stylesheet" href="/_s'
        b'ec/cp_challenge/sec-cpt-4-4.css"><script src="/_sec/cp_challenge/sec-4-4.js" async defer></script></head'
        b"><body><script>window.onload=function(){cp_clge_done=function(){location.reload(true);}}</script><div id"
        b'="sec-container"><div id="sec-text-container"><iframe id="sec-text-if" class="custmsg" src="/_sec/cp_cha'
        b'llenge/ak-challenge-4-3.htm"></iframe></div><div id="sec-if-container"><iframe id="sec-cpt-if" provider='
        b'"crypto" class="crypto" data-key="" challenge="eyJ"></iframe></div></div></body></html>',
    ),
    (
        "DataDome",
        b'<html lang="en"><head><title>shop.example</title><style>#cmsg{animation: A 1.5s;}@keyframes A{0%{opacity'
        b':0;}}</style><meta name="viewport" content="width=device-width"></head><body style="margin:0"><script da'
        b"ta-cfasync=\"false\">var dd={'rt':'c','cid':'AH','hsh':'A5','t':'fe','qp':'','s':17434,'e':'x','host':'geo"
        b".captcha-delivery.com','cookie':'a'}</script><script data-cfasync=\"false\" src=\"https://ct.captcha-delive"
        b'ry.com/c.js"></script></body></html>',
    ),
    (
        "Imperva",
        b'<!DOCTYPE html><html><head><noscript><title>Pardon Our Interruption</title></noscript><meta name="viewpo'
        b'rt" content="width=1000"><meta name="robots" content="noindex, nofollow"><meta http-equiv="cache-control'
        b'" content="no-cache"><title>Pardon Our Interruption</title><script type="text/javascript">function showB'
        b'lockPage() {document.title = "Pardon Our Interruption";document.getElementById("interstitial-inprogress"'
        b').style.display = "none";}window.onProtectionInitialized = function(protection) {window.location.reload('
        b')}; window.reeseSkipExpirationCheck = true;</script><script src="/abcdef-ghij?d=shop.example"></script><'
        b'/head><body><div class="container"><div id="interstitial-inprogress">Verifying you are human</div><h1>Pa'
        b"rdon Our Interruption...</h1><p>As you were browsing something about your browser made us think you were"
        b" a bot. There are a few reasons this might happen:</p><ul><li>You've disabled JavaScript in your web bro"
        b"wser.</li><li>You're a power user moving through this website with super-human speed.</li><li>You've dis"
        b"abled cookies in your web browser.</li></ul></div></body></html>",
    ),
    (
        "Imperva",
        b'<html>\r\n<head>\r\n<META NAME="robots" CONTENT="noindex,nofollow">\r\n<script src="/_Incapsula_Resource?SWJIY'
        b'LWA=5074a744e2e3d891814e9a2dace20bd4,719d34d31c8e3a6e6fffd425f7e032f3">\r\n</script>\r\n<body>\r\n</body></htm'
        b"l>\r\n",
    ),
    (
        "HUMAN",
        b'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-w'
        b'idth, initial-scale=1"><meta name="description" content="px-captcha"><title>Access to this page has been'
        b" denied</title></head><body><script>window._pxVid = 'v';window._pxUuid = 'u';window._pxAppId = 'PXu6b0qd"
        b"2S';window._pxHostUrl = '//collector-PXu6b0qd2S.perimeterx.net';window._pxJsClientSrc='//client.perimete"
        b"rx.net/PX/main.min.js';var script = document.createElement('script');script.src = '//captcha.px-cdn.net/"
        b"PXu6b0qd2S/captcha.js?a=c&m=0&u=1&v=2&h=3';document.head.appendChild(script);</script></body></html>",
    ),
    (
        "HUMAN",
        b'<!DOCTYPE html><html lang="en"><head><title>Robot or human?</title><meta name="viewport" content="width='
        b'device-width"><link rel="icon" href="//i5.example/favicon.ico"></head><body><div id="topmessage"><h1>Rob'
        b"ot or human?</h1><p>Activate and hold the button to confirm that you're human. Thank You!</p></div><div "
        b'id="px-captcha"></div><script>window._pxAppId="PXu6b0qd2S";window._pxJsClientSrc="/px/PXu6b0qd2S/init.js'
        b'";</script><script src="/px/PXu6b0qd2S/captcha/captcha.js?a=c"></script><a href="/help">Try a different '
        b"method</a></body></html>",
    ),
    (
        "AWS WAF",
        b'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-w'
        b'idth, initial-scale=1"><title>Human Verification</title><style>body{font-family:Arial}</style><script ty'
        b'pe="text/javascript">window.awsWafCookieDomainList = [];window.gokuProps = {"key":"AQID","iv":"A6","cont'
        b'ext":"v"};</script><script src="https://de5282c3ca0c.1ae1d3f3.us-east-1.token.awswaf.com/de5282c3ca0c/ch'
        b'allenge.js"></script><script src="https://de5282c3ca0c.1ae1d3f3.us-east-1.captcha.awswaf.com/de5282c3ca0'
        b'c/captcha.js"></script></head><body><div id="captcha-container"></div><script type="text/javascript">Aws'
        b'WafIntegration.saveReferrer();window.addEventListener("load", function() {const container = document.que'
        b'rySelector("#captcha-container");CaptchaScript.renderCaptcha(container, async (voucher) => {await Challe'
        b"ngeScript.submitCaptcha(voucher);window.location.reload(true);});});</script><noscript><h1>JavaScript is"
        b" disabled</h1>In order to continue, you need to verify that you're not a robot by solving a CAPTCHA puzz"
        b"le. The CAPTCHA puzzle requires JavaScript. Enable JavaScript and then reload the page.</noscript></body"
        b"></html>",
    ),
    (
        "Sucuri",
        b'<!DOCTYPE html><html lang="en"><head><title>Sucuri WebSite Firewall - Access Denied</title></head><body>'
        b'<div id="main-container"><header><a href="https://www.sucuri.net"><img alt="Sucuri Website Firewall" src'
        b'="https://cdn.sucuri.net/x.png"></a></header><section><h1>Access Denied - Sucuri Website Firewall</h1><p'
        b">If you are the site owner (or you manage this site), please whitelist your IP or if you think this bloc"
        b"k is an error please open a support ticket.</p><h2>Block details:</h2><table><tr><td>Your IP:</td><td>ad"
        b"dress</td></tr><tr><td>URL:</td><td>shop.example/</td></tr><tr><td>Block ID:</td><td>BNP005</td></tr><tr"
        b"><td>Block reason:</td><td>Bad bot access attempt.</td></tr></table></section></body></html>",
    ),
    (
        "hCaptcha",
        b"<html><head><title>Sicherheitspr\xc3\xbcfung</title></head><body><h1>Bitte best\xc3\xa4tigen Sie, dass Sie kein Robo"
        b'ter sind</h1><form method="post"><div class="h-captcha" data-sitekey="1"></div><button>Weiter</button></'
        b'form><script src="https://js.hcaptcha.com/1/api.js"></script></body></html>',
    ),
    (
        "reCAPTCHA",
        b"<html><head><title>Verification required</title></head><body><h1>Please verify you are a human</h1><p>Ac"
        b'cess to this page has been denied because we believe you are using automation tools.</p><form method="po'
        b'st"><div class="g-recaptcha" data-sitekey="1"></div></form><script src="https://www.google.com/recaptcha'
        b'/api.js"></script></body></html>',
    ),
    (
        "reCAPTCHA",
        b"<html><head><title>Captcha</title></head><body><h1>Please complete the security check to access shop.exa"
        b'mple</h1><div id="html_element"></div><form action="?" method="POST"><div id="recaptcha"></div></form><s'
        b"cript>var onloadCallback=function(){grecaptcha.render('recaptcha',{sitekey:'x'})}</script><script src=\"h"
        b'ttps://www.google.com/recaptcha/api.js?onload=onloadCallback&render=explicit"></script></body></html>',
    ),
    (
        "F5",
        b'<html><head><meta http-equiv="Pragma" content="no-cache"/><meta http-equiv="Expires" content="-1"/><meta'
        b' http-equiv="CacheControl" content="no-cache"/><meta http-equiv="Content-Type" content="text/html; chars'
        b'et=utf-8"/><link rel="shortcut icon" href="data:;base64,iVBORw0KGgo="/><script type="text/javascript">(f'
        b'unction(){window["bobcmn"] = "101110101010102000000022000000052000000002";window["failureConfig"]="x";})'
        b'();</script><script type="text/javascript" src="/TSPD/08c0e5?type=9"></script><noscript>Please enable Ja'
        b"vaScript to view the page content.<br/>Your support ID is: 1234567890.</noscript></head><body></body></h"
        b"tml>",
    ),
    (
        "F5",
        b"<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult w"
        b"ith your administrator.<br><br>Your support ID is: 12345<br><br><a href='javascript:history.back();'>[Go"
        b" Back]</a></body></html>",
    ),
    (
        "Kasada",
        b"<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof performance!=='undefine"
        b"d'&&performance.now?performance.now.bind(performance):Date.now.bind(Date);KPSDK.start=KPSDK.now();</scri"
        b'pt><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js?KP_UID'
        b'z=x&x-kpsdk-im=AA"></script></body></html>',
    ),
    (
        "Radware",
        b'<html><head><title>Radware Captcha Page</title></head><body><script>(function(){SSConf("c","https://cas.'
        b'avalon.perfdrive.com");})()</script><h1>We apologize for the inconvenience...</h1><p>...but your activit'
        b"y and behavior on this site made us think that you are a bot.</p><p>Please solve this CAPTCHA in helping"
        b' us understand your behavior to grant access</p><form><div class="h-captcha" data-sitekey="x"></div></fo'
        b'rm><script src="https://cdn.perfdrive.com/aperture/aperture.js"></script></body></html>',
    ),
    (
        "DDoS-Guard",
        b"<!DOCTYPE html><html lang=en><title>DDOS-GUARD</title><meta charset=utf-8><meta content=noindex name=rob"
        b"ots><body id=ddg-body><div id=ddg-l10n-container><p id=ddg-l10n-title>Checking your browser before acces"
        b"sing</p><p id=ddg-l10n-description>shop.example. Please wait a few seconds. Once this check is complete,"
        b" the website will open automatically</p></div><script>window.addEventListener('load',()=>{}); </script><"
        b"script src=/.well-known/ddos-guard/js-challenge/index.js></script></body></html>",
    ),
    (
        "SiteGround",
        b'<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/'
        b'?r=%2F&y=ipc:address:1700000000.123"></meta></head></html>',
    ),
    (
        "Alibaba Cloud",
        b"<html><script>var arg1='DB2F0B6C3F7F2A0D4D7E8B7B1E4F7C8A9B0C1D2E';(function(a,c){var G=a0i;})();function"
        b' setCookie(name,value){document.cookie=name+"="+value}function reload(x){setCookie("acw_sc__v2",x);docum'
        b"ent.location.reload();}</script></html>",
    ),
    (
        "Reblaze",
        b'<html><head><meta charset="utf-8"></head><body><script>window.rbzns={"seed":"x","hosts":"shop.example"};'
        b'winsocks();</script><script src="/c3650cdf-216a-4ba2-80b0-9d6c540b105e58d2670b-ea0f-484e-b88c-0e2c1499ec'
        b'9bd71e4b42-8570-44e3-89b6-845326fa43b6"></script></body></html>',
    ),
    (
        "Amazon",
        b'<!DOCTYPE html><html lang="en-us"><head><meta http-equiv="content-type" content="text/html; charset=UTF-'
        b'8"><title dir="ltr">Amazon.com</title><!-- To discuss automated access to Amazon data please contact api'
        b'-services-support@amazon.com. --></head><body><h4>Enter the characters you see below</h4><p class="a-las'
        b"t\">Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser "
        b'is accepting cookies.</p><form method="get" action="/errors/validateCaptcha" name=""><input type=hidden '
        b'name="amzn" value="x"/><img src="https://images-na.ssl-images-amazon.com/captcha/x/Captcha_y.jpg"><input'
        b' autocomplete="off" spellcheck="false" id="captchacharacters" name="field-keywords" type="text"><button '
        b'type="submit">Continue shopping</button></form></body></html>',
    ),
    (
        "Wordfence",
        b"<html><head><title>Your access to this site has been limited</title></head><body><h1>Your access to this"
        b' site has been limited by the site owner</h1><form method="POST" id="unlock-form"><input type="email" na'
        b'me="email"><input type="submit"></form><p>Generated by Wordfence at Mon</p></body></html>',
    ),
    (
        "Vercel",
        b'<!DOCTYPE html><html lang="en"><head><title>Vercel Security Checkpoint</title></head><body><div id="root'
        b'"><p id="header-text">We\'re verifying your browser</p><a id="footer-link">Vercel Security Checkpoint</a>'
        b"</div><script>!function(){}()</script></body></html>",
    ),
]
"""Other pages of theirs, and of more of them, as public reports describe them."""

NEAR: dict[str, bytes] = {
    "akamai words with text input": b"<h1>Access Denied</h1><p>errors.edgesuite.net</p><form><input name=q></form>",
    "article on cf": b'<title>Just a moment...</title><nav><a href="/">Home</a> <a href="/l">Lamps</a></nav><h1>Oak lamps</h1><'
    b"p>Lamps of oak turned by hand in a small workshop by the sea. Lamps of oak turned by hand in a small wor"
    b"kshop by the sea. Lamps of oak turned by hand in a small workshop by the sea. Lamps of oak turned by han"
    b"d in a small workshop by the sea. Lamps of oak turned by hand in a small workshop by the sea. Lamps of o"
    b"ak turned by hand in a small workshop by the sea. <pre>window._cf_chl_opt = {cvId: 3}; /cdn-cgi/challeng"
    b"e-platform/h/b</pre>",
    "short page with turnstile comments form": b'<h1>Blog</h1><p>Show that you are not a robot to comment</p><form><input name=comment><div class="cf-tur'
    b'nstile" data-sitekey=1></div></form>',
    "login w/ recaptcha": b"<h1>Log in</h1><form><input name=u><input type=password><div class=g-recaptcha></div><p>confirm you are "
    b"human</p></form>",
    "newsletter, contact w/ plain text input": b"<nav><a href=/>H</a></nav><h1>Contact us</h1><form><input name=name type=text><input name=mail type=text"
    b'><p>Please confirm that you are not a robot.</p><div class="g-recaptcha" data-sitekey=1></div><button>Se'
    b"nd</button></form>",
    "search page w/ hcaptcha": b'<h1>Domain search</h1><form><input name=domain><p>Security check</p><div class="h-captcha"></div><button'
    b">Look up</button></form>",
    "poll": b"<h1>Vote for the best tea of 2026</h1><form><label><input type=radio name=t> Green</label><label><input "
    b'type=radio name=t> Black</label><p>One vote each, we check that you are human</p><div class="h-captcha">'
    b"</div><button>Vote</button></form>",
    "cf jsd on a tiny page": b"<title>Tiny</title><p>hello</p><script>(function(){function c(){var b=a.contentDocument||a.contentWindow"
    b'.document;if(b){var d=b.createElement("script");d.innerHTML="window.__CF$cv$params={r:1,t:2};var a=docum'
    b"ent.createElement('script');a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js';\"}}})()</script>",
    "imperva beacon tiny noindex": b'<html><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"><script src="/_Incapsula_Resource?SWJIYLWA=7'
    b'"></script></head><body><p>Thank you for your order, we will write to you.</p></body></html>',
    "imperva beacon spa shell noindex": b'<html><head><title>Account</title><meta name="robots" content="noindex, nofollow"><script src="/_Incapsu'
    b'la_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3,719d34d31c8e3a6e6fffd425f7e032f3"></script></head>'
    b'<body><div id="root"></div><script src="/static/js/main.1.js"></script></body></html>',
    "datadome spa shell": b'<html><head><title>Shop</title><script>window.ddjskey="A";window.ddoptions={ajaxListenerPath:true}</scri'
    b'pt><script src="https://js.datadome.co/tags.js"></script></head><body><div id=root></div></body></html>',
    "datadome own var dd, csp meta": b'<html><head><meta http-equiv="Content-Security-Policy" content="frame-src https://geo.captcha-delivery.c'
    b'om"><script>var dd={"site":"x"}</script></head><body><div id=root></div><script src=a.js></script></body'
    b"></html>",
    "px spa shell": b'<html><head><title>Shop</title></head><body><div id=root></div><script>window._pxAppId="PX1";(function()'
    b'{var p=document.createElement("script");p.src="/PX1/init.js"})()</script></body></html>',
    "px spa with px-captcha modal css": b"<html><head><title>Shop</title><style>#px-captcha{margin:0 auto}</style></head><body><div id=root></div>"
    b'<script>window._pxAppId="PX1"</script></body></html>',
    "aws waf sdk shell": b'<html><head><script src="https://a.edge.sdk.awswaf.com/x/challenge.js" defer></script></head><body><div '
    b"id=root></div></body></html>",
    "aws captcha api shell": b'<html><head><script src="https://x.edge.captcha-sdk.awswaf.com/x/jsapi.js" defer></script><script>functi'
    b"on showMyCaptcha(){AwsWafCaptcha.renderCaptcha()}</script></head><body><div id=root></div></body></html>",
    "kasada shell": b'<html><head><title>Shop</title><script src="/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3b'
    b'e-862e0f06eea3/p.js"></script><script>window.KPSDK.configure([{domain:"a",path:"/",method:"POST"}])</scr'
    b"ipt></head><body><div id=root></div></body></html>",
    "f5 device id": b'<html><head><title>Bank</title><script src="/TSPD/08c0?type=17"></script></head><body><div id=root></div'
    b"></body></html>",
    "own 403-like help page": b"<title>Access denied</title><h1>Access denied</h1><p>What to do when your door card says access denied: "
    b"ask the desk.</p>",
    "sucuri article": b"<h1>What Sucuri Website Firewall means by Access Denied</h1><p>A short text. A short text. A short text."
    b" A short text. A short text. A short text. A short text. A short text. A short text. A short text. A sho"
    b"rt text. A short text. A short text. A short text. A short text. A short text. A short text. A short tex"
    b"t. A short text. A short text. A short text. A short text. A short text. A short text. A short text. A s"
    b"hort text. A short text. A short text. A short text. A short text. ",
    "reference #18 akamai article": b"<h1>Access Denied</h1><p>If you see errors.edgesuite.net, wait.</p><p>text</p><p>text</p><p>text</p><p>t"
    b"ext</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</"
    b"p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><p>text</p><a href=/>a</a><a href=/>"
    b"a</a><a href=/>a</a><a href=/>a</a><a href=/>a</a><a href=/>a</a><a href=/>a</a><a href=/>a</a><a href=/"
    b">a</a><a href=/>a</a><a href=/>a</a><a href=/>a</a>",
    "f5 docs short": b'<h1>Troubleshooting</h1><p>"The requested URL was rejected. Please consult with your administrator. Your'
    b' support ID is: 123" is what the WAF says.</p><p>Then look into the log of the WAF under Security, Event'
    b" Logs, and search for the id.</p><p>Then look into the log of the WAF under Security, Event Logs, and se"
    b"arch for the id.</p><p>Then look into the log of the WAF under Security, Event Logs, and search for the "
    b"id.</p><p>Then look into the log of the WAF under Security, Event Logs, and search for the id.</p><p>The"
    b"n look into the log of the WAF under Security, Event Logs, and search for the id.</p><p>Then look into t"
    b"he log of the WAF under Security, Event Logs, and search for the id.</p>",
    "sg site": b'<html><head><title>x</title></head><body><nav><a href="/">Home</a> <a href="/l">Lamps</a></nav><h1>Oak l'
    b"amps</h1><p>Lamps of oak turned by hand in a small workshop by the sea. Lamps of oak turned by hand in a"
    b" small workshop by the sea. Lamps of oak turned by hand in a small workshop by the sea. Lamps of oak tur"
    b"ned by hand in a small workshop by the sea. Lamps of oak turned by hand in a small workshop by the sea. "
    b'Lamps of oak turned by hand in a small workshop by the sea. <a href="/.well-known/sgcaptcha/">captcha</a'
    b"></body></html>",
}
"""Pages of sites with much of what a challenge has: widgets in forms, beacons in empty shells, quotations."""
